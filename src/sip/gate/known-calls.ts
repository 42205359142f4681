/**
 * Recognizes messages about our calls from their bytes alone: the Call-ID, and a token that only the two ends know
 * (our tag, or the branch of an open transaction). Dropping a flood thus costs one search in one buffer per
 * message.
 */
export interface KnownCalls {
  add(sipCallId: string, token: string): void
  remove(sipCallId: string, token: string): void
  mentions(bytes: Buffer): boolean
}

export const createKnownCalls = (): KnownCalls => {
  const calls = new Map<string, Map<string, number>>()
  return {
    add: (sipCallId, token) => {
      const tokens = calls.get(sipCallId) ?? new Map<string, number>()
      calls.set(sipCallId, tokens)
      tokens.set(token, (tokens.get(token) ?? 0) + 1)
    },
    remove: (sipCallId, token) => {
      const tokens = calls.get(sipCallId)
      const left = (tokens?.get(token) ?? 0) - 1
      if (left > 0) tokens?.set(token, left)
      else tokens?.delete(token)
      if (tokens?.size === 0) calls.delete(sipCallId)
    },
    mentions: (bytes) => {
      const tokens = calls.get(callIdIn(bytes))
      if (tokens === undefined) return false
      for (const token of tokens.keys()) if (bytes.includes(token)) return true
      return false
    },
  }
}

// A Call-ID line is among the first headers; one further away than this does not count.
const searchedBytes = 8192
const names = [/\r\ncall-id[ \t]{0,8}:/i, /\r\ni[ \t]{0,8}:/i]

/** The Call-ID as written in the bytes; '' if none is found. */
const callIdIn = (bytes: Buffer): string => {
  const head = bytes.toString('latin1', 0, Math.min(bytes.length, searchedBytes))
  for (const name of names) {
    const match = name.exec(head)
    if (match === null) continue
    const start = match.index + match[0].length
    const end = head.indexOf('\r\n', start)
    return head.slice(start, end < 0 ? undefined : end).trim()
  }
  return ''
}
