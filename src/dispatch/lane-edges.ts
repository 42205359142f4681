import { sql, type Database, type Transaction } from '../database/database.ts'
import { horizonMs, laneSchedules, nextOpening } from '../calling-hours/openings.ts'
import type { CallingWindowJson } from '../calling-hours/weekly-window.ts'
import { zonesOfText } from '../domains/calls/lane-store.ts'
import { policyOfJson, type CallingPolicyJson } from '../domains/organizations/calling-policy.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

/** Lanes computed in one transaction. */
const maxLanes = 500
const dayMs = 24 * 3_600_000

/**
 * Computes the opening of due lanes: new ones, those that just closed, those with an edited policy. Returns how
 * many; 0 when none is due, or another node is computing them. Only dispatch writes openings.
 */
export const computeDueLanes = (db: Database): Promise<number> =>
  db.transaction(async (tx) => {
    const organizations = await tx.rows<{ organization_id: OrganizationId }>(lockStatement, [
      maxLanes,
    ])
    if (organizations.length === 0) return 0
    const ids = organizations.map((row) => row.organization_id)
    const lanes = await tx.rows<DueLane>(dueStatement, [ids, maxLanes])
    if (lanes.length > 0) await storeOpenings(tx, lanes)
    return lanes.length
  })

interface DueLane {
  readonly organization_id: OrganizationId
  readonly id: string
  readonly time_zones: string
  readonly calling_window: CallingWindowJson | null
  readonly is_over: boolean
  readonly policy: CallingPolicyJson
  readonly now: Date
}

// An edit of the policy locks the organization's row before it commits, so that no opening computed from an older
// policy outlives it.
const lockStatement = sql(
  'lane-edges.lockOrganizations',
  `select organization_id
     from dispatch_organizations
    where organization_id in (select organization_id
                                from lanes
                               where recompute_at <= now()
                               order by recompute_at
                               limit $1)
      for no key update skip locked`,
)

const dueStatement = sql(
  'lane-edges.dueLanes',
  `select l.organization_id, l.id, l.time_zones, l.calling_window,
          b.settled_at is not null as is_over,
          o.policy, statement_timestamp() as now
     from lanes l
     join organizations o on o.id = l.organization_id
     left join batches b  on b.organization_id = l.organization_id and b.id = l.source_id and l.kind = 'batch'
    where l.organization_id = any($1::uuid[])
      and l.recompute_at <= now()
    limit $2`,
)

const storeStatement = sql(
  'lane-edges.storeOpenings',
  `with stored as (
     update lanes l
        set opens_at     = n.opens_at,
            closes_at    = n.closes_at,
            recompute_at = n.recompute_at
       from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[])
              as n (organization_id, id, opens_at, closes_at, recompute_at)
      where l.organization_id = n.organization_id
        and l.id = n.id
     returning l.organization_id
   )
   update dispatch_organizations
      set ready = true
    where organization_id in (select organization_id from stored)`,
)

const storeOpenings = async (tx: Transaction, lanes: readonly DueLane[]): Promise<void> => {
  const openings = lanes.map(openingOfLane)
  await tx.run(storeStatement, [
    lanes.map((lane) => lane.organization_id),
    lanes.map((lane) => lane.id),
    openings.map((opening) => opening.opensAt),
    openings.map((opening) => opening.closesAt),
    openings.map((opening) => opening.recomputeAt),
  ])
}

interface StoredOpening {
  readonly opensAt: string
  readonly closesAt: string
  readonly recomputeAt: string
}

const never = 'infinity'

const openingOfLane = (lane: DueLane): StoredOpening => {
  // No call will ever wait here again: a batch that is over costs dispatch nothing.
  if (lane.is_over) return { opensAt: never, closesAt: never, recomputeAt: never }
  const nowMs = lane.now.getTime()
  const schedules = laneSchedules(
    policyOfJson(lane.policy),
    zonesOfText(lane.time_zones),
    lane.calling_window ?? undefined,
  )
  const opening = nextOpening(schedules, nowMs)
  if (!opening) {
    return { opensAt: never, closesAt: never, recomputeAt: instant(nowMs + dayMs) }
  }
  // An opening cut at the horizon has no edge: computed again well before, it never seems to close.
  const isCut = opening.endMs >= nowMs + horizonMs
  return {
    opensAt: instant(opening.startMs),
    closesAt: instant(opening.endMs),
    recomputeAt: instant(isCut ? opening.endMs - dayMs : opening.endMs),
  }
}

const instant = (epochMs: number): string => new Date(epochMs).toISOString()
