import { ApiError } from '../contract/api-error.ts'
import { endWithText } from './response-bytes.ts'
import type { Exchange } from './exchange.ts'
import { MethodNotAllowed } from './router.ts'
import { endAfterDiscarding, restOfBody } from './connections/unread-body.ts'
import { rateLimitHeaders } from './steps/rate-limit.ts'

export type Headers = Record<string, string>

/** A response before it is written: the body is JSON text. */
export interface Reply {
  readonly status: number
  readonly body: string
  readonly headers: Headers
  /** Sent as `Set-Cookie`. */
  readonly cookie?: string | undefined
}

/** Retry delay for clients when the service cannot respond for now. */
const unavailableRetrySeconds = 2

/** The error envelope and the headers that belong to its code. */
export const errorReply = (error: ApiError, requestId: string): Reply => ({
  status: error.status,
  body: JSON.stringify({
    error: {
      code: error.code,
      message: error.message,
      request_id: requestId,
      ...(error.details ? { details: error.details } : {}),
    },
  }),
  headers: errorHeaders(error),
})

const errorHeaders = (error: ApiError): Headers => ({
  ...(error.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
  ...(error instanceof MethodNotAllowed ? { Allow: error.allowed.join(', ') } : {}),
  ...(error.retryAfterSeconds === undefined
    ? {}
    : { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterSeconds))) }),
})

/** 503 while the database fails over or the node drains: the same code as a fault, and worth a retry (D9). */
export const unavailableReply = (
  requestId: string,
  message = 'The service cannot answer for the moment. Retry shortly.',
): Reply => ({
  ...errorReply(new ApiError('internal_error', message), requestId),
  status: 503,
  headers: { 'Retry-After': String(unavailableRetrySeconds) },
})

/** 503 for a list that took too long. */
export const cutReply = (requestId: string): Reply =>
  unavailableReply(
    requestId,
    'This list took too long and was cut. Ask for a shorter range of time, or for fewer items, and retry.',
  )

/** A fault of ours: the client gets only the request id. */
export const faultReply = (requestId: string): Reply =>
  errorReply(
    new ApiError('internal_error', 'Something went wrong on our side. Quote the request id.'),
    requestId,
  )

/** Headers of every response, also of errors. */
export const standingHeaders = (requestId: string, version: string): Headers => ({
  'X-Request-Id': requestId,
  'Service-Version': version,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
})

/**
 * Node writes a longer text into three times the memory it needs, and keeps that until the client has read the
 * response.
 */
const maxTextBytes = 16_384

/** The rest of `standingHeaders`, and the type of every response of the kernel. */
const fixedHeaders = [
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'Content-Type',
  'application/json; charset=utf-8',
]

/**
 * Writes the response, with further headers as names and values in turn; the last one of its connection announces that.
 * Does nothing if one was written already, or the client is gone.
 */
export const sendReply = (
  exchange: Exchange,
  reply: Reply,
  isLast: boolean,
  furtherHeaders: readonly string[] = [],
): void => {
  const { request, response, requestId, version, allowance } = exchange
  if (response.headersSent || response.destroyed) return
  const rest = restOfBody(request)
  const bodyBytes = Buffer.byteLength(reply.body)
  // A flat list of names and values is what Node writes fastest.
  const headers = [
    'X-Request-Id',
    requestId,
    'Service-Version',
    version,
    ...fixedHeaders,
    'Content-Length',
    String(bodyBytes),
    ...furtherHeaders,
  ]
  if (allowance) headers.push(...rateLimitHeaders(allowance))
  for (const name in reply.headers) headers.push(name, reply.headers[name] ?? '')
  if (reply.cookie !== undefined) headers.push('Set-Cookie', reply.cookie)
  if (rest !== 'none' || isLast) headers.push('Connection', 'close')
  response.writeHead(reply.status, headers)
  if (rest === 'unbounded') endAfterDiscarding(request, response, reply.body)
  else if (bodyBytes > maxTextBytes) endWithText(response, reply.body, bodyBytes)
  // As text, head and body leave in one write.
  else response.end(reply.body)
}
