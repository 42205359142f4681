import { laneSchedules, nextOpening } from '../../calling-hours/openings.ts'
import type { CallingWindowJson } from '../../calling-hours/weekly-window.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { CallingPolicy } from '../organizations/calling-policy.ts'
import { zonesOfText } from './lane-store.ts'

interface QueuedGroup {
  readonly time_zones: string
  readonly calling_window: CallingWindowJson | null
  readonly queued: number
}

/** Groups of calls with the same hours that are judged; those with most calls first. */
const maxGroups = 500

const queuedStatement = sql(
  'preview-policy.queuedGroups',
  `select l.time_zones, l.calling_window, count(*)::int as queued
     from calls c
     join lanes l on l.organization_id = c.organization_id and l.id = c.lane_id
    where c.organization_id = $1
      and c.status = 'queued'
    group by l.time_zones, l.calling_window
    order by 3 desc
    limit $2`,
)

/** What a policy would do to the calls that are queued now, by their hours. */
export const previewPolicy = async (
  db: Queryable,
  organizationId: OrganizationId,
  policies: { readonly before: CallingPolicy; readonly after: CallingPolicy },
  now: Date,
) => {
  const groups = await db.rows<QueuedGroup>(queuedStatement, [organizationId, maxGroups])
  const nowMs = now.getTime()
  const seen = { queued: 0, before: 0, after: 0, wouldWait: 0, wouldRing: 0, without: 0 }
  for (const group of groups) {
    const openingBy = (policy: CallingPolicy) => {
      const zones = zonesOfText(group.time_zones)
      return nextOpening(laneSchedules(policy, zones, group.calling_window ?? undefined), nowMs)
    }
    const isOpen = (startMs = Number.POSITIVE_INFINITY): boolean => startMs <= nowMs
    const next = openingBy(policies.after)
    const before = isOpen(openingBy(policies.before)?.startMs)
    const after = isOpen(next?.startMs)
    seen.queued += group.queued
    if (before) seen.before += group.queued
    if (after) seen.after += group.queued
    if (before && !after) seen.wouldWait += group.queued
    if (after && !before) seen.wouldRing += group.queued
    if (next === undefined) seen.without += group.queued
  }
  return {
    queued: seen.queued,
    open_before: seen.before,
    open_after: seen.after,
    would_wait: seen.wouldWait,
    would_ring: seen.wouldRing,
    without_opening: seen.without,
  }
}
