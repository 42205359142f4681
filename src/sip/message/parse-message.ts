import {
  emptyBody,
  messageLimits,
  type Header,
  type SipMessage,
  type SipRequest,
} from './message.ts'
import { splitOutsideQuotes } from './header-syntax.ts'
import { faultOf } from './validate-message.ts'

/**
 * The result of parsing one message. A malformed one has the reason and the refusal status; `request` is present if
 * enough was read to send a response at all.
 */
export type ParseResult =
  | { readonly ok: true; readonly message: SipMessage }
  | {
      readonly ok: false
      readonly status: number
      readonly reason: string
      readonly request?: SipRequest
    }

/**
 * Parses one message (RFC 3261 7 and 25). Never throws. Content-Length defines the body; without it (a datagram)
 * everything after the empty line is the body. Bytes after the body are dropped (RFC 3261 18.3).
 */
export const parseMessage = (
  bytes: Buffer,
  maxBytes: number = messageLimits.maxBytes,
): ParseResult => {
  if (bytes.length > maxBytes) return malformed('the message is too large', 513)
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return malformed('no empty line ends the header')
  const lines = unfold(bytes.toString('utf8', 0, headEnd))
  if (lines.length > messageLimits.maxHeaders + 1) return malformed('too many headers')
  if (lines.some(({ length }) => length > messageLimits.maxLineBytes))
    return malformed('a header line is too long')
  const start = parseStartLine(lines[0] ?? '')
  if (typeof start === 'string') return malformed(start)
  const headers = parseHeaders(lines, start.kind === 'response')
  if (typeof headers === 'string') return malformed(headers)
  return finish(start, headers, bytes.subarray(headEnd + 4))
}

type StartLine =
  | {
      readonly kind: 'request'
      readonly method: string
      readonly uri: string
      readonly version: string
    }
  | {
      readonly kind: 'response'
      readonly status: number
      readonly reason: string
      readonly version: string
    }

const malformed = (reason: string, status = 400): ParseResult => ({ ok: false, status, reason })

// RFC 3261 7.3.1: a line that begins with white space continues the previous one.
const unfold = (head: string): string[] => head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')

const requestLine = /^([!%'*+\-.0-9A-Z_`a-z~]{1,64}) (\S+) (SIP\/\d+\.\d+)$/i
const statusLine = /^(SIP\/\d+\.\d+) (\d+)(?: (.*))?$/i

const parseStartLine = (line: string): StartLine | string => {
  const status = statusLine.exec(line)
  if (status !== null) {
    const [, version = '', code = '', reason = ''] = status
    if (!/^[1-6]\d\d$/.test(code)) return 'the status code is out of range'
    return { kind: 'response', status: Number(code), reason, version }
  }
  const request = requestLine.exec(line)
  if (request === null) return 'the start line cannot be read'
  const [, method = '', uri = '', version = ''] = request
  return { kind: 'request', method, uri, version }
}

const headerLine = /^([!%'*+\-.0-9A-Z_`a-z~]{1,128})[ \t]*:[ \t]*([^]*)$/

/** An unreadable line of a response is skipped: it can only be a field that nothing of ours reads. */
const parseHeaders = (lines: readonly string[], isLenient: boolean): Header[] | string => {
  const headers: Header[] = []
  for (const line of lines.slice(1)) {
    const match = headerLine.exec(line)
    if (match === null && isLenient) continue
    if (match === null) return 'a header line cannot be read'
    const name = longName(match[1] ?? '')
    for (const value of valuesOf(name, (match[2] ?? '').trim())) headers.push([name, value])
    if (headers.length > messageLimits.maxHeaders) return 'too many headers'
  }
  return headers
}

const compactNames: Readonly<Record<string, string>> = {
  a: 'accept-contact',
  b: 'referred-by',
  c: 'content-type',
  d: 'request-disposition',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
}

const longName = (written: string): string => {
  const name = written.toLowerCase()
  return name.length === 1 ? (compactNames[name] ?? name) : name
}

/** Fields with a comma-separated list, so that one line may contain several values (RFC 3261 7.3.1). */
const listHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'allow',
  'allow-events',
  'contact',
  'p-asserted-identity',
  'proxy-require',
  'reason',
  'record-route',
  'require',
  'route',
  'service-route',
  'supported',
  'unsupported',
  'via',
])

const valuesOf = (name: string, value: string): string[] =>
  listHeaders.has(name) && value.includes(',')
    ? splitOutsideQuotes(value, ',').map((part) => part.trim())
    : [value]

const finish = (start: StartLine, headers: Header[], rest: Buffer): ParseResult => {
  const message = withBody(start, headers, rest)
  const fault =
    start.version.toUpperCase() === 'SIP/2.0'
      ? faultOf(message, rest.length)
      : { status: 505, reason: 'the SIP version is not 2.0' }
  if (fault === undefined) return { ok: true, message }
  return { ok: false, ...fault, ...(message.kind === 'request' ? { request: message } : {}) }
}

const withBody = (start: StartLine, headers: readonly Header[], rest: Buffer): SipMessage => {
  const length = headers.find(([name]) => name === 'content-length')?.[1]
  const declared = length !== undefined && /^\d{1,9}$/.test(length) ? Number(length) : rest.length
  const body = rest.length === 0 ? emptyBody : rest.subarray(0, declared)
  return start.kind === 'request'
    ? { kind: 'request', method: start.method, uri: start.uri, headers, body }
    : { kind: 'response', status: start.status, reason: start.reason, headers, body }
}
