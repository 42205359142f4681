import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import type { ResultStatus } from '../../contract/states.ts'
import {
  resultStatesBefore,
  type ResultKind,
  type ResultState,
  type UnavailableReason,
} from './result-states.ts'
import type { CallKey } from './transcript-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** A result's row, locked until the transaction ends. */
export interface LockedResult {
  readonly status: ResultStatus
  readonly revision: number
  readonly content_hash: Buffer | null
}

const openStatement = sql(
  'result-store.openResult',
  `insert into results (organization_id, call_id, kind, status, reason)
   values ($1, $2, $3, $4, $5)
   on conflict (organization_id, call_id, kind) do nothing`,
)

/** A result's first row, in the transaction that ends its call. Repeatable. */
export const insertResult = async (
  tx: Transaction,
  { organizationId, callId }: CallKey,
  kind: ResultKind,
  state: Exclude<ResultState, { status: 'ready' }>,
): Promise<void> => {
  await tx.run(openStatement, [organizationId, callId, kind, state.status, state.reason])
}

const openManyStatement = sql(
  'result-store.insertUnavailableResults',
  `insert into results (organization_id, call_id, kind, status, reason)
   select $1, c.id, k.kind, 'unavailable', $3
     from unnest($2::uuid[]) as c (id)
    cross join (values ('transcript'), ('summary')) as k (kind)
   on conflict (organization_id, call_id, kind) do nothing`,
)

/** Both results of many calls that have none and will get none. */
export const insertUnavailableResults = async (
  tx: Transaction,
  organizationId: OrganizationId,
  callIds: readonly string[],
  reason: UnavailableReason,
): Promise<void> => {
  await tx.run(openManyStatement, [organizationId, callIds, reason])
}

const lockStatement = sql(
  'result-store.lockResult',
  `select status, revision, content_hash
     from results
    where organization_id = $1
      and call_id = $2
      and kind = $3
      for no key update`,
)

export const lockResult = (
  tx: Transaction,
  { organizationId, callId }: CallKey,
  kind: ResultKind,
): Promise<LockedResult | undefined> =>
  tx.row<LockedResult>(lockStatement, [organizationId, callId, kind])

const moveStatement = sql(
  'result-store.moveResult',
  `update results
      set status = $4,
          reason = $5,
          attempts = attempts + $6,
          updated_at = now()
    where organization_id = $1
      and call_id = $2
      and kind = $3
      and status = any ($7)`,
)

interface MoveOptions {
  readonly newAttempts?: number
  /** A subset of the transition table's states. */
  readonly from?: readonly ResultStatus[]
}

/** Whether the state was entered; false if the transition table forbids it. */
export const moveResult = async (
  db: Queryable,
  { organizationId, callId }: CallKey,
  kind: ResultKind,
  state: Exclude<ResultState, { status: 'ready' }>,
  { newAttempts = 0, from = resultStatesBefore(state.status) } = {} as MoveOptions,
): Promise<boolean> => {
  const values = [organizationId, callId, kind, state.status, state.reason, newAttempts, from]
  return (await db.run(moveStatement, values)) > 0
}

const supersedeStatement = sql(
  'result-store.supersedeRevision',
  `update result_revisions
      set superseded_at = now()
    where organization_id = $1
      and call_id = $2
      and kind = $3
      and superseded_at is null`,
)

const insertRevisionStatement = sql(
  'result-store.insertRevision',
  `insert into result_revisions (organization_id, call_id, kind, revision, content, content_hash, sanitizer_version,
                                 generated_at)
   values ($1, $2, $3, $4, $5, $6, $7, now())`,
)

const readyStatement = sql(
  'result-store.markReady',
  `update results
      set status = 'ready',
          reason = null,
          revision = $4,
          content_hash = $5,
          generated_at = case when $4 = revision then generated_at else now() end,
          attempts = attempts + 1,
          updated_at = now()
    where organization_id = $1
      and call_id = $2
      and kind = $3`,
)

interface NewRevision {
  readonly revision: number
  readonly content: string
  readonly contentHash: Buffer
  readonly sanitizerVersion: number
}

/** Stores a revision beside the older ones and publishes it. The caller holds the result's lock. */
export const insertRevision = async (
  tx: Transaction,
  { organizationId, callId }: CallKey,
  kind: ResultKind,
  { revision, content, contentHash, sanitizerVersion }: NewRevision,
): Promise<void> => {
  const key = [organizationId, callId, kind]
  await Promise.all([
    tx.run(supersedeStatement, key),
    tx.run(insertRevisionStatement, [...key, revision, content, contentHash, sanitizerVersion]),
    tx.run(readyStatement, [...key, revision, contentHash]),
  ])
}

/** Publishes the stored revision again. The caller holds the result's lock. */
export const keepRevision = async (
  tx: Transaction,
  { organizationId, callId }: CallKey,
  kind: ResultKind,
  { revision, contentHash }: Pick<NewRevision, 'revision' | 'contentHash'>,
): Promise<void> => {
  await tx.run(readyStatement, [organizationId, callId, kind, revision, contentHash])
}

const purgeStatement = sql(
  'result-store.purgeSupersededRevisions',
  `delete from result_revisions r
    using (
      select organization_id, call_id, kind, revision
        from result_revisions
       where superseded_at < now() - interval '24 hours'
       order by superseded_at
       limit $1
    ) as old
    where r.organization_id = old.organization_id
      and r.call_id = old.call_id
      and r.kind = old.kind
      and r.revision = old.revision`,
)

/** Deletes up to `limit` revisions that no cursor can name any more (D7); returns how many. */
export const purgeSupersededRevisions = (db: Queryable, limit: number): Promise<number> =>
  db.run(purgeStatement, [limit])
