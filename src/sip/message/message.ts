/** One header field value: the name in lower case and in its long form, the value unfolded and trimmed. */
export type Header = readonly [name: string, value: string]

/**
 * A SIP request (RFC 3261 7.1). A comma-separated list becomes one entry per value, in the order of the message.
 * The body is bytes, cut by Content-Length.
 */
export interface SipRequest {
  readonly kind: 'request'
  readonly method: string
  readonly uri: string
  readonly headers: readonly Header[]
  readonly body: Buffer
}

/** A SIP response (RFC 3261 7.2), its headers and body as in `SipRequest`. */
export interface SipResponse {
  readonly kind: 'response'
  readonly status: number
  readonly reason: string
  readonly headers: readonly Header[]
  readonly body: Buffer
}

export type SipMessage = SipRequest | SipResponse

/**
 * The limits for a peer's messages. Larger ones are dropped, because a response would cost more than it is worth.
 */
export const messageLimits = {
  /** Per message; a stream buffers no more. */
  maxBytes: 65_536,
  /** Per message over UDP, far beyond what a path carries unfragmented. */
  maxDatagramBytes: 8_192,
  /** Per start line and header field, including its folded lines. */
  maxLineBytes: 4_096,
  /** Header field values. */
  maxHeaders: 128,
} as const

export const emptyBody: Buffer = Buffer.alloc(0)

/** The first value of a header, by its lower-case name. */
export const headerOf = (message: SipMessage, name: string): string | undefined =>
  message.headers.find(([key]) => key === name)?.[1]

/** Every value of a header, in order. */
export const headersOf = (message: SipMessage, name: string): readonly string[] =>
  message.headers.filter(([key]) => key === name).map(([, value]) => value)

/** The body as UTF-8 text; empty where there is none. */
export const bodyText = (message: SipMessage): string => message.body.toString('utf8')

/** Whether a list header (Require, Supported, Allow) names a token, in any case. */
export const listsToken = (message: SipMessage, name: string, token: string): boolean =>
  headersOf(message, name).some((value) => value.toLowerCase() === token.toLowerCase())

/** The message as bytes, with Content-Length written from the body (RFC 3261 20.14). */
export const serializeMessage = (message: SipMessage): Buffer => {
  const lines = [startLine(message)]
  for (const [name, value] of message.headers) {
    if (name !== 'content-length') lines.push(`${wireName(name)}: ${singleLine(value)}`)
  }
  lines.push(`Content-Length: ${message.body.length}`, '', '')
  const head = Buffer.from(lines.join('\r\n'), 'utf8')
  return message.body.length === 0 ? head : Buffer.concat([head, message.body])
}

const startLine = (message: SipMessage): string =>
  message.kind === 'request'
    ? `${message.method} ${singleLine(message.uri)} SIP/2.0`
    : `SIP/2.0 ${message.status} ${singleLine(message.reason)}`

// A line break in a value would let its author write header fields of our message.
const singleLine = (value: string): string => value.replace(/[\r\n]+/g, ' ')

const unusualNames: Readonly<Record<string, string>> = {
  'call-id': 'Call-ID',
  cseq: 'CSeq',
  'www-authenticate': 'WWW-Authenticate',
  rack: 'RAck',
  rseq: 'RSeq',
  'min-se': 'Min-SE',
  'mime-version': 'MIME-Version',
}

const wireNames = new Map<string, string>(Object.entries(unusualNames))
const maxWireNames = 512

const wireName = (name: string): string => {
  const known = wireNames.get(name)
  if (known !== undefined) return known
  const written = name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
  if (wireNames.size < maxWireNames) wireNames.set(name, written)
  return written
}
