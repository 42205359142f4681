import { blankControls } from '../../runtime/plain-text.ts'

/** Parameters after the value of a header field or URI: names in lower case, values unquoted, '' for a bare name. */
export type Parameters = ReadonlyMap<string, string>

/** Splits at a separator outside quoted strings and angle brackets (RFC 3261 25.1). */
export const splitOutsideQuotes = (text: string, separator: string): string[] => {
  const parts: string[] = []
  let start = 0
  let inQuotes = false
  let inBrackets = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (inQuotes) {
      if (character === '\\') at += 1
      else if (character === '"') inQuotes = false
    } else if (character === '"') inQuotes = true
    else if (character === '<') inBrackets = true
    else if (character === '>') inBrackets = false
    else if (character === separator && !inBrackets) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}

/** Parses `a=b;c;d="e"` as a map; `undefined` if a name is not a token or a quoted string does not end. */
export const parseParameters = (text: string): Parameters | undefined => {
  const parameters = new Map<string, string>()
  for (const part of splitOutsideQuotes(text, ';')) {
    const piece = part.trim()
    if (piece === '') continue
    const parameter = parseParameter(piece)
    if (parameter === undefined) return undefined
    if (!parameters.has(parameter[0])) parameters.set(parameter[0], parameter[1])
  }
  return parameters
}

const parseParameter = (piece: string): [string, string] | undefined => {
  const equals = piece.indexOf('=')
  const name = (equals < 0 ? piece : piece.slice(0, equals)).trim().toLowerCase()
  if (!isToken(name)) return undefined
  if (equals < 0) return [name, '']
  const value = unquote(piece.slice(equals + 1).trim())
  return value === undefined ? undefined : [name, value]
}

/** The text of a token or quoted string; `undefined` if the quotes are not balanced. */
const unquote = (written: string): string | undefined => {
  if (!written.startsWith('"')) return written.includes('"') ? undefined : written
  const match = /^"((?:[^"\\]|\\[^])*)"$/.exec(written)
  return match?.[1]?.replace(/\\([^])/g, '$1')
}

/** Text as a quoted string (RFC 3261 25.1), with a blank for each control character. */
export const quote = (text: string): string => `"${blankControls(text).replace(/["\\]/g, '\\$&')}"`

/** Whether the text is a token (RFC 3261 25.1). */
export const isToken = (text: string): boolean => /^[!%'*+\-.0-9A-Z_`a-z~]+$/.test(text)
