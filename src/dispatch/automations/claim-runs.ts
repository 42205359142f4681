import { sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

export interface ClaimedRun {
  readonly organizationId: OrganizationId
  readonly runId: string
}

// Only due runs are read, in order of their wake time, however many sleep: the index contains only wake times.
// benchmarks/automations.ts: 1,000 due runs among 1,000,000 sleeping ones as fast as among 10,000.
const claimStatement = sql(
  'claim-runs.claimDueRuns',
  `update automation_runs r
      set wake_at = coalesce($3::timestamptz, now()) + $2 * interval '1 millisecond'
     from (select organization_id, id
             from automation_runs
            where wake_at <= coalesce($3::timestamptz, now())
            order by wake_at
            limit $1
              for no key update skip locked) due
    where r.organization_id = due.organization_id
      and r.id = due.id
   returning r.organization_id, r.id`,
)

/**
 * Takes up to `limit` due runs for `leaseMs`: if the runner dies, they become due again. A lease keeps two runners
 * from doing the same work; `commitMoves` guarantees that nothing is done twice.
 */
export const claimDueRuns = async (
  db: Queryable,
  { limit, leaseMs, now }: { limit: number; leaseMs: number; now?: Date | undefined },
): Promise<ClaimedRun[]> =>
  (
    await db.rows<{ organization_id: OrganizationId; id: string }>(claimStatement, [
      limit,
      leaseMs,
      now ?? null,
    ])
  ).map((row) => ({ organizationId: row.organization_id, runId: row.id }))
