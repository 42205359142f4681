import stringWidth from 'string-width'

const printableAscii = /^[ -~]*$/
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The number of terminal cells of a text. */
export const widthOf = (text: string): number =>
  printableAscii.test(text) ? text.length : stringWidth(text)

export const padTo = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** The text, or its beginning with an ellipsis if it is wider. */
export const shortenToWidth = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let [taken, room] = ['', width - 1]
  for (const { segment } of graphemes.segment(text)) {
    room -= widthOf(segment)
    if (room < 0) break
    taken += segment
  }
  return `${taken.trimEnd()}…`
}

/**
 * Lines of at most `width` cells, broken between words. A longer word stays whole on its own line, so that it can
 * be copied; text of a script without blanks is broken between characters.
 */
export const wrap = (text: string, width: number): string[] => {
  const lines: string[] = []
  let lineWidth = 0
  for (const word of text.split(' ').flatMap((each) => breakWord(each, width))) {
    const wordWidth = widthOf(word)
    if (lines.length === 0 || lineWidth + 1 + wordWidth > width) {
      lines.push(word)
      lineWidth = wordWidth
    } else {
      lines[lines.length - 1] += ` ${word}`
      lineWidth += 1 + wordWidth
    }
  }
  return lines
}

/** The width of the widest piece that `wrap` does not break. */
export const widestWord = (text: string): number =>
  Math.max(0, ...text.split(' ').map((word) => (printableAscii.test(word) ? word.length : 0)))

const breakWord = (word: string, width: number): string[] => {
  if (printableAscii.test(word) || widthOf(word) <= width) return [word]
  const pieces: string[] = []
  let pieceWidth = Number.POSITIVE_INFINITY
  for (const { segment } of graphemes.segment(word)) {
    const segmentWidth = widthOf(segment)
    if (pieceWidth + segmentWidth > width) {
      pieces.push(segment)
      pieceWidth = segmentWidth
    } else {
      pieces[pieces.length - 1] += segment
      pieceWidth += segmentWidth
    }
  }
  return pieces
}
