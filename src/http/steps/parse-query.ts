import type { BrokenRule } from '../../contract/errors.ts'

interface ParsedQuery {
  readonly values: Readonly<Record<string, string>>
  readonly problems: readonly BrokenRule[]
}

/**
 * Reads a query string (form encoding). A repeated parameter is `duplicate_item`, a malformed escape or text that
 * cannot be stored `invalid_format`; nothing is repaired and nothing dropped in silence (D1).
 */
export const parseQuery = (text: string): ParsedQuery => {
  const values: Record<string, string> = Object.create(null)
  const problems: BrokenRule[] = []
  for (const piece of text.split('&')) {
    if (piece === '') continue
    const [rawName = '', ...rest] = piece.split('=')
    const name = decode(rawName) ?? rawName
    const value = decode(rest.join('='))
    if (value === undefined || decode(rawName) === undefined)
      problems.push({ path: name, code: 'invalid_format', rule: 'holds a malformed escape' })
    else if (name in values)
      problems.push({ path: name, code: 'duplicate_item', rule: 'is given twice' })
    else values[name] = value
  }
  return { values, problems }
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
