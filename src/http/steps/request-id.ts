import { randomBase62 } from '../../runtime/ids.ts'
import { soleHeader, type RequestHead } from '../connections/request-head.ts'

const shape = /^[A-Za-z0-9._:-]{1,64}$/

/** The caller's `X-Request-Id`, or a new one where it is absent, repeated or of another shape. Never refused. */
export const readRequestId = (request: RequestHead): string => {
  const given = soleHeader(request, 'x-request-id')
  return typeof given === 'string' && shape.test(given) ? given : newRequestId()
}

export const newRequestId = (): string => `req_${randomBase62(22)}`
