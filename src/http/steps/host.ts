import { invalidField } from '../../contract/api-error.ts'
import { soleHeader, type RequestHead } from '../connections/request-head.ts'

/** Throws 400 unless an HTTP/1.1 request names exactly one host (RFC 9112 section 3.2). */
export const requireHost = (request: RequestHead): void => {
  const host = soleHeader(request, 'host')
  if (host === null) throw invalidField('host', 'invalid_format', 'must name one host')
  if (host === undefined && request.httpVersion !== '1.0') throw invalidField('host', 'required')
}
