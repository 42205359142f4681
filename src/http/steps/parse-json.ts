import { isUtf8 } from 'node:buffer'
import { ApiError } from '../../contract/api-error.ts'

/** Deepest nesting of a body; the outermost object is level 1 (D9). */
const maxDepth = 64

/**
 * Parses strict JSON: valid UTF-8, no byte order mark, nothing deeper than 64 levels, no repeated member. Throws 400
 * `invalid_json`. The grammar is JSON.parse's; what it lets pass is found by a scan of the now valid text.
 */
export const parseJson = (bytes: Buffer): unknown => {
  const text = decode(bytes)
  const value = parse(text)
  const { depth, members } = measure(text)
  if (depth > maxDepth) throw invalidJson(`The body is nested deeper than ${maxDepth} levels.`)
  // JSON.parse keeps the last of two members of one name, so a repeated one leaves fewer members than colons.
  if (countMembers(value) !== members)
    throw invalidJson('A member of an object in the body is repeated.')
  return value
}

const decode = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw invalidJson('The body is not UTF-8.')
  // A byte order mark stays and is no JSON.
  return bytes.toString('utf8')
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidJson('The body is not JSON.')
  }
}

const quote = 0x22
const backslash = 0x5c

/** Depth and number of members of valid JSON text, without recursion. */
const measure = (text: string): { depth: number; members: number } => {
  let [depth, deepest, members] = [0, 0, 0]
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at)
        break
      case 0x3a: // :
        members += 1
        break
      case 0x7b: // {
      case 0x5b: // [
        depth += 1
        deepest = Math.max(deepest, depth)
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1
    }
  }
  return { depth: deepest, members }
}

const endOfString = (text: string, start: number): number => {
  let at = start + 1
  while (text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at
}

const countMembers = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  let members = Array.isArray(value) ? 0 : values.length
  for (const item of values) members += countMembers(item)
  return members
}

const invalidJson = (message: string): ApiError => new ApiError('invalid_json', message)
