import { sql, type Queryable, type Transaction } from '../database/database.ts'

/** A stored answer to a request that once succeeded (D10). */
export interface StoredAnswer {
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

/**
 * Claims the key for this transaction; a row that is there stays. While another transaction holds the key
 * uncommitted, the insert would wait for it: the lock timeout turns that wait into SQLSTATE 55P03 after a
 * millisecond, so a concurrent holder never blocks anybody.
 */
export const insertClaim = (
  tx: Transaction,
  organizationId: string,
  key: string,
  fingerprint: Buffer,
): Promise<number> =>
  tx.run(insertClaimSql, [organizationId, key, fingerprint, String(claimWaitMs)])

const claimWaitMs = 1

const insertClaimSql = sql(
  'idempotency-claims.insert-claim',
  `insert into idempotency_claims (organization_id, key, fingerprint)
   select $1::uuid, $2::text, $3::bytea
     from (select set_config('lock_timeout', $4::text, true)) as patience
   on conflict (organization_id, key) do nothing`,
)

/** The claim as it stands after `insertClaim`: ours, or what an earlier request left. Also ends the lock timeout. */
export const readClaim = (
  tx: Transaction,
  organizationId: string,
  key: string,
): Promise<ClaimRow | undefined> => tx.row<ClaimRow>(readClaimSql, [organizationId, key])

const readClaimSql = sql(
  'idempotency-claims.read-claim',
  `select claim.fingerprint, claim.status, claim.body, claim.location,
          claim.created_at <= now() - interval '24 hours' as is_expired
     from (select set_config('lock_timeout', '0', true)) as patience
     left join idempotency_claims as claim
       on claim.organization_id = $1 and claim.key = $2`,
)

/** Stores the answer with the claim; both commit with the effect. */
export const storeAnswer = (
  tx: Transaction,
  organizationId: string,
  key: string,
  { status, body, location }: StoredAnswer,
): Promise<number> => tx.run(storeAnswerSql, [organizationId, key, status, body, location ?? null])

const storeAnswerSql = sql(
  'idempotency-claims.store-answer',
  `update idempotency_claims
      set status = $3, body = $4, location = $5
    where organization_id = $1 and key = $2`,
)

/** Forgets one claim past its 24 hours, so that its key can be claimed anew. */
export const deleteExpiredClaim = (
  db: Queryable,
  organizationId: string,
  key: string,
): Promise<number> => db.run(deleteExpiredClaimSql, [organizationId, key])

const deleteExpiredClaimSql = sql(
  'idempotency-claims.delete-expired-claim',
  `delete from idempotency_claims
    where organization_id = $1 and key = $2
      and created_at <= now() - interval '24 hours'`,
)

/** Forgets up to `limit` expired claims of any organization, oldest first; answers how many. */
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
