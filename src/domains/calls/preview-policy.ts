import { laneSchedules, nextOpening } from '../../calling-hours/openings.ts'
import type { CallingWindowJson } from '../../calling-hours/weekly-window.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { CallingPolicy } from '../organizations/calling-policy.ts'
import { zonesOfText } from './lane-store.ts'

interface QueuedGroup {
  readonly time_zones: string
  readonly calling_window: CallingWindowJson | null
  /** The start of the recipients' scheduled batch; null for queued calls. */
  readonly starts_at: Date | null
  readonly calls: number
}

/** Groups of calls with the same hours that are judged; those with most calls first. */
const maxGroups = 500

// Calls of a scheduled batch are pending until its start.
const queuedStatement = sql(
  'preview-policy.queuedGroups',
  `select l.time_zones, l.calling_window, c.starts_at, count(*)::int as calls
     from (select lane_id, null::timestamptz as starts_at
             from calls
            where organization_id = $1
              and status = 'queued'
           union all
           select x.lane_id, b.scheduled_start_at
             from batches b
             join calls x on x.organization_id = b.organization_id and x.batch_id = b.id
            where b.organization_id = $1
              and b.status = 'scheduled'
              and x.status = 'pending') c
     join lanes l on l.organization_id = $1 and l.id = c.lane_id
    group by l.time_zones, l.calling_window, c.starts_at
    order by 4 desc
    limit $2`,
)

/** What a policy would do to the calls that are queued now, and to those of scheduled batches, by their hours. */
export const previewPolicy = async (
  db: Queryable,
  organizationId: OrganizationId,
  policies: { readonly before: CallingPolicy; readonly after: CallingPolicy },
  now: Date,
) => {
  const groups = await db.rows<QueuedGroup>(queuedStatement, [organizationId, maxGroups])
  const nowMs = now.getTime()
  const seen = { queued: 0, before: 0, after: 0, wouldWait: 0, wouldRing: 0, later: 0, without: 0 }
  const scheduled = { all: 0, later: 0 }
  for (const group of groups) {
    const fromMs = Math.max(nowMs, group.starts_at?.getTime() ?? nowMs)
    const ringsAt = (policy: CallingPolicy): number => {
      const zones = zonesOfText(group.time_zones)
      const schedules = laneSchedules(policy, zones, group.calling_window ?? undefined)
      const opening = nextOpening(schedules, fromMs)
      return opening ? Math.max(opening.startMs, fromMs) : Number.POSITIVE_INFINITY
    }
    const [before, after] = [ringsAt(policies.before), ringsAt(policies.after)]
    if (group.starts_at !== null) {
      scheduled.all += group.calls
      if (after > before) scheduled.later += group.calls
      continue
    }
    seen.queued += group.calls
    if (before <= nowMs) seen.before += group.calls
    if (after <= nowMs) seen.after += group.calls
    if (before <= nowMs && after > nowMs) seen.wouldWait += group.calls
    if (after <= nowMs && before > nowMs) seen.wouldRing += group.calls
    if (after > before) seen.later += group.calls
    if (after === Number.POSITIVE_INFINITY) seen.without += group.calls
  }
  return {
    queued: seen.queued,
    open_before: seen.before,
    open_after: seen.after,
    would_wait: seen.wouldWait,
    would_ring: seen.wouldRing,
    would_ring_later: seen.later,
    without_opening: seen.without,
    scheduled: scheduled.all,
    scheduled_later: scheduled.later,
  }
}
