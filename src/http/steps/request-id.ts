import type { IncomingMessage } from 'node:http'
import { randomBase62 } from '../../runtime/ids.ts'

const shape = /^[A-Za-z0-9._:-]{1,64}$/

/** The caller's `X-Request-Id`, or a new one where it is absent, repeated or of another shape. Never refused. */
export const readRequestId = (request: IncomingMessage): string => {
  const [given, second] = request.headersDistinct['x-request-id'] ?? []
  return given !== undefined && second === undefined && shape.test(given) ? given : newRequestId()
}

export const newRequestId = (): string => `req_${randomBase62(22)}`
