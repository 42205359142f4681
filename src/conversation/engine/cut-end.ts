/**
 * Removes the characters at the end of the text that are of this kind. An expression such as `/
 * +$/` would restart at each space of a run inside the text.
 * @param kind takes one character
 */
export const cutEnd = (text: string, kind: RegExp): string => {
  let end = text.length
  while (end > 0 && kind.test(text[end - 1] ?? '')) end -= 1
  return text.slice(0, end)
}
