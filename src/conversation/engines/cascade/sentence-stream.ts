/** Splits streamed text into pieces that can be spoken on their own. */
interface SentenceStream {
  push(piece: string): string[]
  /** What is left. */
  end(): string[]
}

/** The first piece may be part of a sentence, because earlier speech shortens the silence. */
const leastFirstClause = 40
/** Shorter sentences ("Yes.") wait for the next, because a synthesizer gives them no melody. */
const leastSentence = 12
const longestSentence = 300

// Chinese and Japanese have no space after a sentence.
const sentenceEnd = /[.!?…]["'”’)]*(?:\s+|$)|[。！？]["'”’)」』）]*\s*/u
const clauseEnd = /[,;:–](?:\s+)/u

export const createSentenceStream = (): SentenceStream => {
  let pending = ''
  let isFirst = true

  /** Where the next piece of speech ends, or `undefined` if its end has not arrived. */
  const cutAt = (): number | undefined => {
    const sentence = endOf(sentenceEnd, leastSentence)
    if (sentence !== undefined) return sentence
    if (isFirst && pending.length > leastFirstClause) {
      const clause = endOf(clauseEnd, leastFirstClause)
      if (clause !== undefined) return clause
    }
    if (pending.length < longestSentence) return undefined
    const space = pending.lastIndexOf(' ', longestSentence)
    return space > 0 ? space + 1 : longestSentence
  }

  const endOf = (end: RegExp, least: number): number | undefined => {
    const match = end.exec(pending.slice(least - 1))
    if (!match) return undefined
    const at = least - 1 + match.index + match[0].length
    // A full stop at the very end may be half of "3.5": the next piece decides.
    return at < pending.length || /\s$/.test(match[0]) ? at : undefined
  }

  const take = (at: number): string => {
    const sentence = pending.slice(0, at).trim()
    pending = pending.slice(at)
    isFirst = false
    return sentence
  }

  return {
    push(piece) {
      pending += piece
      const sentences: string[] = []
      for (let at = cutAt(); at !== undefined; at = cutAt()) sentences.push(take(at))
      return sentences.filter((sentence) => sentence !== '')
    },
    end() {
      const rest = take(pending.length)
      return rest === '' ? [] : [rest]
    },
  }
}
