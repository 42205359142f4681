import { ApiError, invalidField } from '../../contract/api-error.ts'
import type { IdempotencyRule } from '../../contract/define-operation.ts'
import type { Principal } from '../../contract/principal.ts'
import { soleHeader, type RequestHead } from '../connections/request-head.ts'

/** 1 to 255 printable ASCII characters; inner spaces allowed, none at the ends (contract, "Endpoints"). */
const shape = /^[!-~](?:[ -~]{0,253}[!-~])?$/

const shapeRule = 'must be 1 to 255 printable ASCII characters without a space at either end'

/** The caller's Idempotency-Key, where the operation reads one. Throws 400 where it is missing or malformed. */
export const readIdempotencyKey = (
  request: RequestHead,
  rule: IdempotencyRule,
): string | undefined => {
  if (rule === 'none') return undefined
  const given = soleHeader(request, 'idempotency-key')
  if (given === undefined) {
    if (rule === 'optional') return undefined
    throw new ApiError('idempotency_key_required', 'This operation requires an Idempotency-Key.')
  }
  if (given === null || !shape.test(given))
    throw invalidField('idempotency-key', 'invalid_format', shapeRule)
  return given
}

/**
 * What a principal's Idempotency-Key claims within its organization: all keys of an organization share theirs (D10), each
 * administrator has others. The space in front keeps the two apart, because no caller's key begins with one.
 */
export const claimKeyOf = (principal: Principal, idempotencyKey: string): string =>
  principal.kind === 'key' ? idempotencyKey : ` ${personOf(principal)} ${idempotencyKey}`

const personOf = (principal: Exclude<Principal, { kind: 'key' }>): string =>
  principal.kind === 'session' ? principal.userId : 'visitor'
