import type { IncomingMessage } from 'node:http'
import { ApiError, invalidField } from '../../contract/api-error.ts'
import type { IdempotencyRule } from '../../contract/define-operation.ts'

/** 1 to 255 printable ASCII characters; inner spaces allowed, none at the ends (contract, "Endpoints"). */
const shape = /^[!-~](?:[ -~]{0,253}[!-~])?$/

/** The caller's Idempotency-Key, where the operation reads one. Throws 400 where it is missing or malformed. */
export const readIdempotencyKey = (
  request: IncomingMessage,
  rule: IdempotencyRule,
): string | undefined => {
  if (rule === 'none') return undefined
  const [given, second] = request.headersDistinct['idempotency-key'] ?? []
  if (given === undefined) {
    if (rule === 'optional') return undefined
    throw new ApiError('idempotency_key_required', 'This operation requires an Idempotency-Key.')
  }
  if (second !== undefined || !shape.test(given))
    throw invalidField('idempotency-key', 'invalid_format')
  return given
}
