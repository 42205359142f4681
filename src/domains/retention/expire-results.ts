import { sql, type Database, type Queryable } from '../../database/database.ts'
import { forgetCallTexts } from '../calls/forget-calls.ts'
import { forgetSipTraces } from '../calls/sip-trace-store.ts'
import { deleteRecordings } from '../recordings/deleted-recordings.ts'
import { forgetResults } from '../results/forget-results.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

interface ExpiredCall {
  readonly organization_id: OrganizationId
  readonly call_id: string
}

// Results are created in the transaction that ends their call, so their age is the time since its end. Both
// branches read an index without the rows already expired: a run that finds nothing costs two probes for each
// organization.
const listStatement = sql(
  'expire-results.listExpiredCalls',
  `select o.id as organization_id, e.call_id
     from organizations o
    cross join lateral (
      (select r.call_id
         from results r
        where r.organization_id = o.id
          and r.created_at < now() - make_interval(days => o.retention_days)
          and r.status <> 'unavailable'
        order by r.created_at
        limit $1)
       union
      (select m.call_id
         from recordings m
        where m.organization_id = o.id
          and m.recorded_at < now() - make_interval(days => o.retention_days)
          and m.status <> 'deleted'
        order by m.recorded_at
        limit $1)
    ) as e
    where o.retention_days is not null
    limit $1`,
)

const listExpired = (db: Queryable, limit: number): Promise<ExpiredCall[]> =>
  db.rows<ExpiredCall>(listStatement, [limit])

/**
 * Deletes the words of up to `limit` calls that ended longer ago than their organization keeps them; returns how
 * many. This commit deletes their recordings for all clients; their bytes follow (`purgeDeletedRecordings`).
 */
export const expireResults = async (db: Database, limit: number): Promise<number> => {
  const expired = await listExpired(db, limit)
  const byOrganization = Map.groupBy(expired, (call) => call.organization_id)
  for (const [organizationId, calls] of byOrganization) {
    const callIds = calls.map((call) => call.call_id)
    await db.transaction(async (tx) => {
      await forgetResults(tx, organizationId, callIds)
      await forgetCallTexts(tx, organizationId, callIds)
      await forgetSipTraces(tx, organizationId, callIds)
      await deleteRecordings(tx, organizationId, callIds)
    })
  }
  return expired.length
}
