const isWhiteSpace = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x09 && code <= 0x0d) ||
  code === 0x85 ||
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200a) ||
  code === 0x2028 ||
  code === 0x2029 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x3000

/**
 * Trims Unicode white space (property White_Space, not ECMAScript's set: U+FEFF stays, U+0085 goes) at both ends
 * (D1). A loop, because a pattern like `\s+$` takes quadratic time on a long run of blanks.
 */
export const trimWhiteSpace = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start += 1
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** Whether PostgreSQL can store the text unchanged: no NUL and no lone surrogate (D1). */
export const isStorableText = (text: string): boolean =>
  text.isWellFormed() && !text.includes('\u0000')
