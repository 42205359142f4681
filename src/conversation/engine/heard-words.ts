import { cutEnd } from './cut-end.ts'

/** From this share on, the utterance counts as heard completely. */
const wholePart = 0.97

/**
 * The words of a partly heard text: cut after the last whole word, with `…`; empty if no whole word
 * was heard.
 * @param heardPart 0 to 1
 */
export const heardWords = (text: string, heardPart: number): string => {
  if (heardPart >= wholePart) return text
  const cutAt = Math.floor(text.length * heardPart)
  // A space after the cut means that the last word was heard completely.
  const heard = text.slice(0, cutAt + 1)
  const lastSpace = heard.lastIndexOf(' ')
  return lastSpace <= 0 ? '' : `${cutEnd(heard.slice(0, lastSpace), /[\s,;:.!?]/u)}…`
}
