import { sql, type Queryable, type Transaction } from '../database/database.ts'
import { contextOf, sqlStateOf } from '../database/errors.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

/** A stored response to a request that succeeded (D10). */
export interface StoredResponse {
  readonly status: number
  readonly body: string
  readonly location: string | undefined
}

export interface ClaimRow {
  readonly fingerprint: Buffer
  /** Null only for the transaction that just inserted the row. */
  readonly status: number | null
  readonly body: string | null
  readonly location: string | null
  readonly is_expired: boolean
}

/** The result of a claim: ours, or `earlier`, with the row of an earlier request. */
interface TakenClaim {
  readonly isOurs: boolean
  /** Undefined if it appeared or disappeared while the statement ran. */
  readonly earlier: ClaimRow | undefined
}

/**
 * Claims the key for this transaction, or reads the row that is there: one statement. While another transaction holds
 * the key uncommitted, the insert would wait for it: the lock timeout turns that wait into SQLSTATE 55P03, so that a
 * concurrent holder blocks nobody (`isHeld` tells it from other waits). The timeout ends with the statement.
 */
export const takeClaim = async (
  tx: Transaction,
  organizationId: OrganizationId,
  key: string,
  fingerprint: Buffer,
  maxWaitMs: number,
): Promise<TakenClaim> => {
  const values = [organizationId, key, fingerprint, String(maxWaitMs)]
  const row = await tx.row<TakenRow>(takeClaimSql, values)
  if (!row) throw new Error('A claim returned no row.')
  return { isOurs: row.is_ours, earlier: row.is_expired === null ? undefined : row }
}

/** Without an earlier row all its columns are null. */
type TakenRow = { readonly is_ours: boolean } & (ClaimRow | { readonly is_expired: null })

/**
 * Whether a claim failed because another's is uncommitted. The same timeout ends a wait for a table that is locked,
 * or that others extend under load; then no request holds the key. Names are not translated.
 */
export const isHeld = (error: unknown): boolean =>
  sqlStateOf(error) === lockNotAvailable && (contextOf(error) ?? '').includes(primaryKey)

/** Whether a claim failed for a wait unrelated to its key. */
export const isDelayed = (error: unknown): boolean =>
  sqlStateOf(error) === lockNotAvailable && !isHeld(error)

const lockNotAvailable = '55P03'
const primaryKey = 'idempotency_claims_pkey'

// The insert runs when `ours` is read, before the last line's timeout is set. A row that it made is not seen by the join.
const takeClaimSql = sql(
  'idempotency-claims.take-claim',
  `with claimed as (
     insert into idempotency_claims (organization_id, key, fingerprint)
     select $1::uuid, $2::text, $3::bytea
       from (select set_config('lock_timeout', $4::text, true)) as patience
     on conflict (organization_id, key) do nothing
     returning 1
   ),
   ours as (select count(*) = 1 as is_ours from claimed)
   select ours.is_ours, claim.fingerprint, claim.status, claim.body, claim.location,
          claim.created_at <= now() - interval '24 hours' as is_expired,
          set_config('lock_timeout', '0', true) as patience
     from ours
     left join idempotency_claims as claim
       on claim.organization_id = $1 and claim.key = $2`,
)

/** Stores the response with the claim; both commit with the effect. */
export const storeResponse = (
  tx: Transaction,
  organizationId: OrganizationId,
  key: string,
  { status, body, location }: StoredResponse,
): Promise<number> =>
  tx.run(storeResponseSql, [organizationId, key, status, body, location ?? null])

const storeResponseSql = sql(
  'idempotency-claims.store-answer',
  `update idempotency_claims
      set status = $3, body = $4, location = $5
    where organization_id = $1 and key = $2`,
)

/** Deletes one claim past its 24 hours, so that its key can be claimed again. */
export const deleteExpiredClaim = (
  db: Queryable,
  organizationId: OrganizationId,
  key: string,
): Promise<number> => db.run(deleteExpiredClaimSql, [organizationId, key])

const deleteExpiredClaimSql = sql(
  'idempotency-claims.delete-expired-claim',
  `delete from idempotency_claims
    where organization_id = $1 and key = $2
      and created_at <= now() - interval '24 hours'`,
)

/** Deletes up to `limit` expired claims of any organization, oldest first; returns how many. */
export const purgeExpiredClaims = (db: Queryable, limit: number): Promise<number> =>
  db.run(purgeExpiredClaimsSql, [limit])

const purgeExpiredClaimsSql = sql(
  'idempotency-claims.purge-expired-claims',
  `delete from idempotency_claims
    where (organization_id, key) in (
      select organization_id, key
        from idempotency_claims
       where created_at <= now() - interval '24 hours'
       order by created_at
       limit $1
         for update skip locked
    )`,
)
