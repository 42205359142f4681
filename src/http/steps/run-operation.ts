import type { Operation, OperationContext } from '../../contract/define-operation.ts'
import type { Position } from '../../contract/paging.ts'
import type { Principal } from '../../contract/principal.ts'
import type { Database, Queryable, Transaction } from '../../database/database.ts'
import type { Cursors } from '../cursors.ts'
import type { StoredResponse } from '../idempotency-claims.ts'
import { retrying } from '../retrying.ts'
import { fingerprintOf, runOnce, type OnceResponse } from './idempotency.ts'
import type { ValidInput } from './validate.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** A handler of any operation: what the table's types guarantee is erased here. */
export type AnyHandler = (
  input: Pick<ValidInput, 'params' | 'query' | 'body'>,
  context: OperationContext<Queryable>,
) => Promise<unknown>

interface Invocation {
  readonly operation: Operation
  readonly handler: AnyHandler
  readonly input: ValidInput
  readonly context: Omit<OperationContext<Queryable>, 'db'>
  /** What the request's Idempotency-Key claims; undefined without one. */
  readonly claimKey: string | undefined
}

interface RunOperationParts {
  readonly database: Database
  readonly cursors: Cursors
  readonly storage: StorageGuard
  readonly present: Present
}

/** What of an answer its caller may see: the answer, or a copy with less in it. */
export type Present = (principal: Principal, body: unknown) => unknown

/** Bounds what an organization stores by its requests; both throw what the caller is told. */
export interface StorageGuard {
  /** Before the transaction of a request that may store. No promise where nothing has to be waited for. */
  prepare(organizationId: OrganizationId): void | Promise<void>
  /** Reserves space for one response that is stored under an Idempotency-Key. */
  keepResponse(organizationId: OrganizationId): void
}

export const unguardedStorage: StorageGuard = {
  prepare: () => undefined,
  keepResponse: () => undefined,
}

/**
 * Calls the handler: on the pool for GET, in a transaction for everything else, at most once under an
 * Idempotency-Key. Work that certainly had no effect, or is safe to repeat, is retried when the database failed
 * over.
 */
export const runOperation = async (
  invocation: Invocation,
  { database, cursors, storage, present }: RunOperationParts,
): Promise<OnceResponse> => {
  const { operation, input, context, claimKey } = invocation
  const work = async (db: Queryable): Promise<StoredResponse> =>
    toResponse(invocation, await invocation.handler(input, { ...context, db }), cursors, present)

  if (operation.method === 'GET')
    return { ...(await retrying(() => work(database), 'repeatable')), isReplay: false }
  if (operation.ownTransactions) return { ...(await work(database)), isReplay: false }
  const prepared = storage.prepare(context.organizationId)
  if (prepared) await prepared
  if (claimKey === undefined) {
    const answer = await retrying(() => database.transaction(work), 'unless committed')
    return { ...answer, isReplay: false }
  }
  const claim = {
    organizationId: context.organizationId,
    key: claimKey,
    fingerprint: fingerprintOf({
      method: operation.method,
      path: fillTemplate(operation.path, input.params),
      version: context.version,
      body: input.body,
    }),
  }
  // A replay is sent whatever this throws: the claim is judged first.
  const keepAndWork = async (tx: Transaction): Promise<StoredResponse> => {
    storage.keepResponse(context.organizationId)
    return work(tx)
  }
  return retrying(() => runOnce(database, claim, keepAndWork), 'repeatable')
}

const toResponse = (
  { operation, input, context }: Invocation,
  result: unknown,
  cursors: Cursors,
  present: Present,
): StoredResponse => {
  const { status, body } = statusAndBody(operation, result)
  const content = operation.paged ? withCursor(body as Page, input, cursors) : body
  return {
    status,
    body: JSON.stringify(present(context.principal, content)),
    location: locationOf(operation, status, content as Record<string, unknown>),
  }
}

const statusAndBody = (
  { statuses }: Operation,
  result: unknown,
): { readonly status: number; readonly body: unknown } =>
  statuses.length === 1 && statuses[0] !== undefined
    ? { status: statuses[0], body: result }
    : (result as { status: number; body: unknown })

interface Page {
  readonly next: Position | null
}

const withCursor = ({ next, ...body }: Page, { cursorScope }: ValidInput, cursors: Cursors) => ({
  ...body,
  next_cursor: next === null ? null : cursors.sign(next, cursorScope),
})

/** Creates name the new resource: a 201, or the acceptance of one. */
const locationOf = (
  { location }: Operation,
  status: number,
  body: Record<string, unknown>,
): string | undefined =>
  location === undefined || status === 200 ? undefined : fillTemplate(location, body)

const fillTemplate = (template: string, values: Readonly<Record<string, unknown>>): string => {
  let text = ''
  let at = 0
  for (;;) {
    const open = template.indexOf('{', at)
    if (open === -1) return text + template.slice(at)
    const close = template.indexOf('}', open)
    text += template.slice(at, open)
    text += encodeURIComponent(String(values[template.slice(open + 1, close)]))
    at = close + 1
  }
}
