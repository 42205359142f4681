import { messageLimits } from './message.ts'

const lineFeed = 10
const carriageReturn = 13
const smallestStoreBytes = 4_096

/**
 * Splits a byte stream into SIP messages by Content-Length (RFC 3261 18.3). At most one message of
 * `messageLimits.maxBytes` is ever buffered, and every byte is scanned once, however the stream is split.
 */
export class MessageFramer {
  readonly #onKeepAlive: () => void
  #store = Buffer.alloc(0)
  #start = 0
  #end = 0
  /** The end of the searched part of the header; `#lineStart` is its last line. */
  #searched = 0
  #lineStart = 0
  /** Where the message ends, once its header is whole. */
  #messageEnd: number | undefined

  /** `onKeepAlive` is called for each double CRLF, which requests one CRLF back (RFC 5626 4.4.1). */
  constructor(onKeepAlive: () => void) {
    this.#onKeepAlive = onKeepAlive
  }

  /** Takes what arrived; returns the complete messages. Throws when the message borders are lost. */
  push(bytes: Buffer): Buffer[] {
    this.#append(bytes)
    const messages: Buffer[] = []
    for (let message = this.#take(); message !== undefined; message = this.#take())
      messages.push(message)
    // Between two messages a connection costs no memory.
    if (this.#start === this.#end) {
      this.#store = Buffer.alloc(0)
      this.#start = this.#end = this.#searched = this.#lineStart = 0
    }
    return messages
  }

  #append(bytes: Buffer): void {
    if (this.#end + bytes.length > this.#store.length) this.#makeRoom(bytes.length)
    bytes.copy(this.#store, this.#end)
    this.#end += bytes.length
  }

  /** Moves the rest to the beginning, or into a buffer of twice the size: each byte moves a few times at most. */
  #makeRoom(length: number): void {
    const start = this.#start
    const needed = this.#end - start + length
    const isLarge = needed > this.#store.length / 2
    const target = isLarge ? Buffer.alloc(storeBytes(needed)) : this.#store
    this.#store.copy(target, 0, start, this.#end)
    this.#store = target
    this.#end -= start
    this.#searched -= start
    this.#lineStart -= start
    if (this.#messageEnd !== undefined) this.#messageEnd -= start
    this.#start = 0
  }

  #take(): Buffer | undefined {
    this.#messageEnd ??= this.#findMessageEnd()
    if (this.#messageEnd === undefined || this.#end < this.#messageEnd) return undefined
    const message = Buffer.from(this.#store.subarray(this.#start, this.#messageEnd))
    this.#start = this.#searched = this.#lineStart = this.#messageEnd
    this.#messageEnd = undefined
    return message
  }

  /** `undefined` until the header is complete. */
  #findMessageEnd(): number | undefined {
    if (this.#searched === this.#start) {
      this.#skipKeepAlive()
      if (this.#end - this.#start < 2) return undefined
    }
    const headEnd = this.#findHeadEnd()
    if (headEnd === undefined) return undefined
    const head = this.#store.toString('latin1', this.#start, headEnd - 4)
    const messageEnd = headEnd + contentLength(head)
    if (messageEnd - this.#start > messageLimits.maxBytes)
      throw new Error('a SIP message is too long')
    return messageEnd
  }

  #skipKeepAlive(): void {
    let lineBreaks = 0
    while (this.#isLineBreakAt(this.#start)) {
      this.#start += 2
      lineBreaks += 1
    }
    this.#searched = this.#start
    this.#lineStart = this.#start
    // One response per read is enough to keep a path open, and cannot make us write more than we read.
    if (lineBreaks >= 2) this.#onKeepAlive()
  }

  #isLineBreakAt(at: number): boolean {
    const store = this.#store
    return at + 1 < this.#end && store[at] === carriageReturn && store[at + 1] === lineFeed
  }

  /** Continues the search for the empty line; `undefined` until it has arrived. */
  #findHeadEnd(): number | undefined {
    const received = this.#store.subarray(0, this.#end)
    for (;;) {
      const at = received.indexOf(lineFeed, this.#searched)
      const reached = at < 0 ? this.#end : at
      if (reached - this.#lineStart > messageLimits.maxLineBytes)
        throw new Error('a SIP header line is too long')
      if (reached - this.#start > messageLimits.maxBytes)
        throw new Error('a SIP header is too long')
      this.#searched = at < 0 ? this.#end : at + 1
      if (at < 0) return undefined
      const isEmpty = at === this.#lineStart + 1 && received[this.#lineStart] === carriageReturn
      const endsLine = received[at - 1] === carriageReturn
      if (isEmpty && this.#lineStart > this.#start) return at + 1
      if (endsLine) this.#lineStart = at + 1
    }
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
