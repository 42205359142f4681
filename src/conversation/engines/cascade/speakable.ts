/**
 * Removes Markdown marks, which models write despite their instructions and a voice would read aloud. Formulas
 * (`5*3`) and names (`snake_case`) stay. Empty if nothing else was there.
 */
export const speakable = (sentence: string): string =>
  marks
    .reduce((text, [mark, words]) => text.replace(mark, words), sentence)
    .replace(/\*+/gu, (run, at: number, text: string) => (isEmphasis(run, at, text) ? '' : run))
    .trim()

const marks: readonly (readonly [RegExp, string])[] = [
  // Links and pictures: their words.
  [/!?\[([^\][]*)\]\([^()\s]*\)/gu, '$1'],
  // Fences with the name of a language, and inline code.
  [/```[\p{L}\p{N}+-]*/gu, ''],
  [/`/gu, ''],
  // Headings, quotations and bullets at the beginning of a line; horizontal rules.
  [/^[ \t]*(?:#{1,6}|>|[-*+•])[ \t]+/gmu, ''],
  [/^[ \t]*(?:[-*_][ \t]*){3,}$/gmu, ''],
  [/(?<![\p{L}\p{N}_])_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?![\p{L}\p{N}_])/gu, ''],
  [/~~/gu, ''],
]

/** Asterisks of emphasis touch a word, and are not between two numbers. */
const isEmphasis = (run: string, at: number, text: string): boolean => {
  // Two units, so that a character outside the basic plane stays whole.
  const before = text.slice(Math.max(at - 2, 0), at)
  const behind = text.slice(at + run.length, at + run.length + 2)
  return (
    (/^\S/u.test(behind) && !/\p{N}$/u.test(before)) ||
    (/\S$/u.test(before) && !/^\p{N}/u.test(behind))
  )
}
