import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalidField } from '../contract/api-error.ts'
import type { Operation } from '../contract/define-operation.ts'
import { unboundQueryMembers, type Position } from '../contract/paging.ts'
import { canonicalJson } from './canonical-json.ts'

/** What a cursor is bound to: it is invalid for another operation, organization or filter (D1). */
export interface CursorScope {
  readonly operation: Pick<Operation, 'method' | 'path'>
  readonly organizationId: string
  readonly params: Readonly<Record<string, unknown>>
  /** The validated query; members that choose no rows are left out. */
  readonly query: Readonly<Record<string, unknown>>
}

export interface Cursors {
  sign(position: Position, scope: CursorScope): string
  /** Throws 400 `invalid_cursor` for one that was altered, cut, or issued for something else. */
  verify(cursor: string, scope: CursorScope): Position
}

/** Raised when the layout below changes, so that older cursors fail cleanly. */
const formatVersion = 1
const macBytes = 16

/**
 * Cursors as base64url of version byte, 128 bits of HMAC-SHA256, and the position. The first secret signs; older ones
 * verify until they are retired.
 */
export const createCursors = (secrets: readonly [Buffer, ...Buffer[]]): Cursors => ({
  sign(position, scope) {
    const payload = Buffer.from(JSON.stringify([position.sort, position.id]))
    const mac = authenticate(secrets[0], payload, scope)
    return Buffer.concat([Buffer.of(formatVersion), mac, payload]).toString('base64url')
  },
  verify(cursor, scope) {
    const bytes = Buffer.from(cursor, 'base64url')
    const payload = bytes.subarray(1 + macBytes)
    const mac = bytes.subarray(1, 1 + macBytes)
    const isOurs =
      // Node's decoder skips foreign characters and surplus bits: only the exact text is the cursor.
      bytes.toString('base64url') === cursor &&
      bytes[0] === formatVersion &&
      mac.length === macBytes &&
      secrets.some((secret) => timingSafeEqual(mac, authenticate(secret, payload, scope)))
    if (!isOurs) throw invalidField('cursor', 'invalid_cursor')
    const [sort, id] = JSON.parse(payload.toString()) as [string, string]
    return { sort, id }
  },
})

const authenticate = (secret: Buffer, payload: Buffer, scope: CursorScope): Buffer =>
  createHmac('sha256', secret)
    .update(`${formatVersion}\n${describe(scope)}\n`)
    .update(payload)
    .digest()
    .subarray(0, macBytes)

// JSON on one line holds no line break, so the parts cannot run into each other.
const describe = ({ operation, organizationId, params, query }: CursorScope): string =>
  [
    `${operation.method} ${operation.path}`,
    organizationId,
    canonicalJson(params),
    canonicalJson(filtersOf(query)),
  ].join('\n')

const filtersOf = (query: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const filters = { ...query }
  for (const member of unboundQueryMembers) delete filters[member]
  return filters
}
