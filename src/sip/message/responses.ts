import { randomBytes } from 'node:crypto'
import { emptyBody, headersOf, type Header, type SipRequest, type SipResponse } from './message.ts'
import { tagOf } from './headers.ts'

/** Reason phrases of the status codes we send or explain (RFC 3261 21 and its extensions). */
export const reasonPhrases: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  181: 'Call Is Being Forwarded',
  182: 'Queued',
  183: 'Session Progress',
  200: 'OK',
  202: 'Accepted',
  300: 'Multiple Choices',
  301: 'Moved Permanently',
  302: 'Moved Temporarily',
  305: 'Use Proxy',
  380: 'Alternative Service',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  410: 'Gone',
  413: 'Request Entity Too Large',
  414: 'Request-URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Unsupported URI Scheme',
  420: 'Bad Extension',
  421: 'Extension Required',
  422: 'Session Interval Too Small',
  423: 'Interval Too Brief',
  428: 'Use Identity Header',
  433: 'Anonymity Disallowed',
  436: 'Bad Identity Info',
  437: 'Unsupported Credential',
  438: 'Invalid Identity Header',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  482: 'Loop Detected',
  483: 'Too Many Hops',
  484: 'Address Incomplete',
  485: 'Ambiguous',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  489: 'Bad Event',
  491: 'Request Pending',
  493: 'Undecipherable',
  500: 'Server Internal Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Server Time-out',
  505: 'Version Not Supported',
  513: 'Message Too Large',
  580: 'Precondition Failure',
  600: 'Busy Everywhere',
  603: 'Decline',
  604: 'Does Not Exist Anywhere',
  606: 'Not Acceptable',
  607: 'Unwanted',
  608: 'Rejected',
}

export interface ResponseOptions {
  readonly reason?: string
  /** Added to To if the request has no tag yet; by default a new one. */
  readonly toTag?: string
  readonly headers?: readonly Header[]
  readonly body?: string
}

/**
 * A response to a request (RFC 3261 8.2.6): its Vias, From, To, Call-ID and CSeq, and Record-Route if it may create
 * a dialog (12.1.1).
 */
export const createResponse = (
  request: SipRequest,
  status: number,
  options: ResponseOptions = {},
): SipResponse => ({
  kind: 'response',
  status,
  reason: options.reason ?? reasonPhrases[status] ?? 'Unknown',
  headers: [
    ...echoedHeaders(request, status, options.toTag),
    ...(options.headers ?? []),
    ...(options.body === undefined ? [] : [['content-type', 'application/sdp'] as const]),
  ],
  body: options.body === undefined ? emptyBody : Buffer.from(options.body, 'utf8'),
})

const echoedHeaders = (
  request: SipRequest,
  status: number,
  toTag: string | undefined,
): Header[] => {
  const echoed = ['via', 'from', 'to', 'call-id', 'cseq'].flatMap((name) =>
    headersOf(request, name).map((value): Header => [name, value]),
  )
  if (status > 100 && status < 300) {
    echoed.push(
      ...headersOf(request, 'record-route').map((value): Header => ['record-route', value]),
    )
  }
  if (status === 100 || tagOf(request, 'to') !== undefined) return echoed
  const tag = toTag ?? newTag()
  return echoed.map(([name, value]): Header => [
    name,
    name === 'to' ? `${value};tag=${tag}` : value,
  ])
}

/** A tag with 64 random bits (RFC 3261 19.3 asks for 32). */
export const newTag = (): string => randomBytes(8).toString('hex')

/** A branch with the magic cookie of RFC 3261 8.1.1.7. */
export const newBranch = (): string => `z9hG4bK${randomBytes(10).toString('hex')}`
