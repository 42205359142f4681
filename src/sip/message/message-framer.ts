import { messageLimits } from './message.ts'

/** Cuts a byte stream into SIP messages by Content-Length (RFC 3261 18.3). */
export interface MessageFramer {
  /** Takes what arrived; gives the whole messages now available. Throws when the stream can no longer be followed. */
  push(bytes: Buffer): Buffer[]
}

const lineFeed = 10
const carriageReturn = 13
const smallestStoreBytes = 4_096

/**
 * `onKeepAlive` is called for each double CRLF, which asks for one CRLF back (RFC 5626 4.4.1). At most one message of
 * `messageLimits.maxBytes` is ever buffered, and every byte is looked at once, in whatever pieces it comes.
 */
export const createMessageFramer = (onKeepAlive: () => void): MessageFramer => {
  let store = Buffer.alloc(0)
  let start = 0
  let end = 0
  /** Up to here the header was searched; from `lineStart` on its last line. */
  let searched = 0
  let lineStart = 0
  /** Where the message ends, once its header is whole. */
  let messageEnd: number | undefined

  const append = (bytes: Buffer): void => {
    if (end + bytes.length > store.length) makeRoom(bytes.length)
    bytes.copy(store, end)
    end += bytes.length
  }

  /** Moves what is left to the beginning, or into a store of twice the size: each byte moves a few times at most. */
  const makeRoom = (length: number): void => {
    const needed = end - start + length
    const target = needed > store.length / 2 ? Buffer.alloc(storeBytes(needed)) : store
    store.copy(target, 0, start, end)
    store = target
    end -= start
    searched -= start
    lineStart -= start
    if (messageEnd !== undefined) messageEnd -= start
    start = 0
  }

  const skipKeepAlive = (): void => {
    let lineBreaks = 0
    while (start + 1 < end && store[start] === carriageReturn && store[start + 1] === lineFeed) {
      start += 2
      lineBreaks += 1
    }
    searched = start
    lineStart = start
    // One answer per read is enough to keep a path open, and cannot be used to make us write more than we read.
    if (lineBreaks >= 2) onKeepAlive()
  }

  /** Searches on for the empty line; `undefined` while it has not come. */
  const findHeadEnd = (): number | undefined => {
    for (;;) {
      const at = store.subarray(0, end).indexOf(lineFeed, searched)
      const reached = at < 0 ? end : at
      if (reached - lineStart > messageLimits.maxLineBytes)
        throw new Error('a SIP header line is too long')
      if (reached - start > messageLimits.maxBytes) throw new Error('a SIP header is too long')
      searched = at < 0 ? end : at + 1
      if (at < 0) return undefined
      const isEmpty = at === lineStart + 1 && store[lineStart] === carriageReturn
      const endsLine = store[at - 1] === carriageReturn
      if (isEmpty && lineStart > start) return at + 1
      if (endsLine) lineStart = at + 1
    }
  }

  const takeMessage = (): Buffer | undefined => {
    if (messageEnd === undefined) {
      if (searched === start) {
        skipKeepAlive()
        if (end - start < 2) return undefined
      }
      const headEnd = findHeadEnd()
      if (headEnd === undefined) return undefined
      messageEnd = headEnd + contentLength(store.toString('latin1', start, headEnd - 4))
      if (messageEnd - start > messageLimits.maxBytes) throw new Error('a SIP message is too long')
    }
    if (end < messageEnd) return undefined
    const message = Buffer.from(store.subarray(start, messageEnd))
    start = searched = lineStart = messageEnd
    messageEnd = undefined
    return message
  }

  return {
    push: (bytes) => {
      append(bytes)
      const messages: Buffer[] = []
      for (let message = takeMessage(); message !== undefined; message = takeMessage())
        messages.push(message)
      // Between two messages a connection costs no memory.
      if (start === end) {
        store = Buffer.alloc(0)
        start = end = searched = lineStart = 0
      }
      return messages
    },
  }
}

const storeBytes = (needed: number): number =>
  Math.max(needed, Math.min(Math.max(2 * needed, smallestStoreBytes), messageLimits.maxBytes))

const contentLength = (head: string): number => {
  const match = /\r\n(?:content-length|l)[ \t]*:(?:\r\n)?[ \t]*(\d{1,9})[ \t]*(?:\r\n|$)/i.exec(
    head,
  )
  // A stream without Content-Length has no message borders at all.
  if (match === null) throw new Error('a SIP message on a stream has no content-length')
  return Number(match[1])
}
