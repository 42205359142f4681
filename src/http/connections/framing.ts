import type { IncomingMessage } from 'node:http'
import { ApiError, invalidField } from '../../contract/api-error.ts'
import { soleHeader } from './request-head.ts'

/**
 * The error in a parsed head whose request end two programs could read in two ways (RFC 9112 sections 6.1 and 6.3).
 * Node's parser refuses most of it by itself (both headers at once, a repeated length, folded lines, bare CR or
 * LF); this finds what it accepts.
 */
export const framingFault = (
  request: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>,
): ApiError | undefined => {
  const { httpVersion } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new ApiError('validation_error', 'This server speaks HTTP/1.1.')
  const coding = soleHeader(request, 'transfer-encoding')
  const length = soleHeader(request, 'content-length')
  if (length !== undefined && (length === null || !/^[0-9]+$/.test(length)))
    return invalidField('content-length', 'invalid_format')
  if (coding === undefined) return undefined
  // A proxy with HTTP/1.0 does not know the header, and takes the body for the next request.
  const isClear = httpVersion === '1.1' && coding?.toLowerCase() === 'chunked'
  return isClear && length === undefined
    ? undefined
    : invalidField('transfer-encoding', 'invalid_format')
}
