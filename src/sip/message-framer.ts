import { messageLimits } from './message.ts'

/** Cuts a byte stream into SIP messages by Content-Length (RFC 3261 18.3). */
export interface MessageFramer {
  /** Takes what arrived; gives the whole messages now available. Throws when the stream can no longer be followed. */
  push(bytes: Buffer): Buffer[]
}

/**
 * `onKeepAlive` is called for each double CRLF, which asks for one CRLF back (RFC 5626 4.4.1). At most one message of
 * `messageLimits.maxBytes` is ever buffered.
 */
export const createMessageFramer = (onKeepAlive: () => void): MessageFramer => {
  let buffered: Buffer = Buffer.alloc(0)
  return {
    push: (bytes) => {
      buffered = buffered.length === 0 ? bytes : Buffer.concat([buffered, bytes])
      const messages: Buffer[] = []
      for (;;) {
        buffered = skipKeepAlive(buffered, onKeepAlive)
        const length = messageLength(buffered)
        if (length === undefined || buffered.length < length) return messages
        messages.push(buffered.subarray(0, length))
        buffered = buffered.subarray(length)
      }
    },
  }
}

const skipKeepAlive = (buffer: Buffer, onKeepAlive: () => void): Buffer => {
  let at = 0
  let lineBreaks = 0
  while (at + 1 < buffer.length && buffer[at] === 13 && buffer[at + 1] === 10) {
    at += 2
    lineBreaks += 1
  }
  // One answer per read is enough to keep a path open, and cannot be used to make us write more than we read.
  if (lineBreaks >= 2) onKeepAlive()
  return at === 0 ? buffer : buffer.subarray(at)
}

/** Length of the first message, `undefined` while its header is incomplete. */
const messageLength = (buffer: Buffer): number | undefined => {
  const headEnd = buffer.indexOf('\r\n\r\n')
  if (headEnd < 0) {
    if (buffer.length > messageLimits.maxBytes) throw new Error('a SIP header is too long')
    return undefined
  }
  const length = headEnd + 4 + contentLength(buffer.toString('latin1', 0, headEnd))
  if (length > messageLimits.maxBytes) throw new Error('a SIP message is too long')
  return length
}

const contentLength = (head: string): number => {
  const match = /\r\n(?:content-length|l)[ \t]*:(?:\r\n)?[ \t]*(\d{1,9})[ \t]*(?:\r\n|$)/i.exec(
    head,
  )
  // A stream without Content-Length has no message borders at all.
  if (match === null) throw new Error('a SIP message on a stream has no content-length')
  return Number(match[1])
}
