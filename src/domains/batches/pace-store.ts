import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { zonesOfText } from '../calls/lane-store.ts'
import type { Pace } from './expected-end.ts'

/** The latest recipients by which the pace is judged, so that a pause is forgotten after as many calls. */
const judgedEnds = 50

// A batch has at most 1,000 calls (D5).
const paceStatement = sql(
  'pace-store.findPace',
  `select count(*)::int as ended, min(ended_at) as oldest
     from (select ended_at
             from calls
            where organization_id = $1
              and batch_id = $2
              and status in ('completed', 'failed')
            order by ended_at desc
            limit $3) as latest`,
)

/** How fast the recipients of a batch that began at `startedAt` have ended lately. */
export const findPace = async (
  db: Queryable,
  organizationId: OrganizationId,
  batchId: string,
  startedAt: Date,
): Promise<Pace> => {
  const row = await db.row<{ ended: number; oldest: Date | null }>(paceStatement, [
    organizationId,
    batchId,
    judgedEnds,
  ])
  const isAll = row === undefined || row.ended < judgedEnds
  const since = isAll ? startedAt : (row.oldest ?? startedAt)
  return { ended: row?.ended ?? 0, sinceMs: since.getTime() }
}

const zonesStatement = sql(
  'pace-store.findLaneZones',
  `select time_zones
     from lanes
    where organization_id = $1
      and source_id = $2
    order by time_zones
    limit $3`,
)

/** More combinations of zones than a batch can have would change nothing. */
const maxLanes = 100

/** The possible zones of the callees of each lane of a batch. */
export const findLaneZones = async (
  db: Queryable,
  organizationId: OrganizationId,
  batchId: string,
): Promise<(readonly string[] | undefined)[]> => {
  const rows = await db.rows<{ time_zones: string }>(zonesStatement, [
    organizationId,
    batchId,
    maxLanes,
  ])
  return rows.map((row) => zonesOfText(row.time_zones))
}
