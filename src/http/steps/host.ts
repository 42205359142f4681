import type { IncomingMessage } from 'node:http'
import { invalidField } from '../../contract/api-error.ts'

/** Throws 400 unless an HTTP/1.1 request names exactly one host (RFC 9112 section 3.2). */
export const requireHost = (request: IncomingMessage): void => {
  const hosts = request.headersDistinct['host'] ?? []
  if (hosts.length > 1) throw invalidField('host', 'invalid_format')
  if (hosts.length === 0 && request.httpVersion !== '1.0') throw invalidField('host', 'required')
}
