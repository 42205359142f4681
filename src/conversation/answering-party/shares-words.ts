const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** At least this part of what was said is in the text: a model may round a number, or leave out a name. */
const sharedPart = 0.5

/**
 * Whether what was said is this text, or a beginning of it, as far as words can tell. Nothing said, and a text without
 * words, share everything.
 */
export const sharesWords = (said: string, text: string): boolean => {
  const wanted = new Set(wordsOf(text))
  const words = wordsOf(said)
  if (wanted.size === 0) return true
  return words.filter((word) => wanted.has(word)).length >= words.length * sharedPart
}

const wordsOf = (text: string): string[] =>
  [...segmenter.segment(text.toLowerCase())].flatMap(({ segment, isWordLike }) =>
    isWordLike ? [segment] : [],
  )
