import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import type { CallingWindowJson } from '../../calling-hours/weekly-window.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { derivedId } from '../../runtime/ids.ts'

/** The kind of work in a lane, and the order of the kinds: immediate calls before all others. */
const laneRanks = { immediate: 0, automation: 1, batch: 2 } as const

export type LaneKind = keyof typeof laneRanks

export interface Lane {
  readonly organizationId: OrganizationId
  readonly kind: LaneKind
  /** The batch or the Automation; the organization itself for immediate calls. */
  readonly sourceId: string
  /** The possible zones of the callees; undefined: judged in the organization's zone. */
  readonly timeZones: readonly string[] | undefined
  readonly callingWindow?: CallingWindowJson | undefined
  readonly isPaused?: boolean
}

/** The same lane always has the same id, so that no look-up is needed. */
export const laneId = ({ organizationId, kind, sourceId, timeZones }: Lane): string => {
  const name = `${kind}/${sourceId}/${zonesText(timeZones)}`
  const key = `${organizationId}/${name}`
  const known = laneIds.get(key)
  if (known !== undefined) return known
  const id = derivedId(organizationId, name)
  laneIds.set(key, id)
  return id
}

/** Hashing a name takes a tenth of the time to accept a call, and most calls share a few lanes. */
const maxLaneIds = 10_000
const laneIds = new BoundedMap<string, string>({ maxSize: maxLaneIds })

const zonesText = (timeZones: readonly string[] | undefined): string =>
  timeZones?.toSorted().join(',') ?? ''

/** Parses a lane's stored zones. */
export const zonesOfText = (text: string): readonly string[] | undefined =>
  text === '' ? undefined : text.split(',')

const ensureStatement = sql(
  'lane-store.ensureLane',
  `insert into lanes (organization_id, id, kind, source_id, time_zones, rank, calling_window, paused)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict do nothing`,
)

/** Creates the lane if it is missing. A new one opens when dispatch has computed its hours, within one turn. */
export const ensureLane = async (db: Queryable, lane: Lane): Promise<void> => {
  await db.run(ensureStatement, [
    lane.organizationId,
    laneId(lane),
    lane.kind,
    lane.sourceId,
    zonesText(lane.timeZones),
    laneRanks[lane.kind],
    lane.callingWindow === undefined ? null : JSON.stringify(lane.callingWindow),
    lane.isPaused ?? false,
  ])
}

const dormantStatement = sql(
  'lane-store.insertDormantLanes',
  `insert into lanes (organization_id, id, kind, source_id, time_zones, rank, calling_window, paused, recompute_at)
   select $1, i.id, i.kind, i.source_id, i.time_zones, i.rank, i.calling_window, true, 'infinity'
     from unnest($2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::smallint[], $7::jsonb[])
            as i (id, kind, source_id, time_zones, rank, calling_window)`,
)

/** Lanes of a source that has not started: they cost dispatch nothing until `wakeSource`. */
export const insertDormantLanes = async (
  db: Queryable,
  organizationId: OrganizationId,
  lanes: readonly Lane[],
): Promise<void> => {
  await db.run(dormantStatement, [
    organizationId,
    lanes.map(laneId),
    lanes.map((lane) => lane.kind),
    lanes.map((lane) => lane.sourceId),
    lanes.map((lane) => zonesText(lane.timeZones)),
    lanes.map((lane) => laneRanks[lane.kind]),
    lanes.map((lane) => lane.callingWindow && JSON.stringify(lane.callingWindow)),
  ])
}

const wakeStatement = sql(
  'lane-store.wakeSource',
  `update lanes
      set paused       = false,
          recompute_at = case when recompute_at = 'infinity' then '-infinity' else recompute_at end
    where organization_id = $1
      and source_id = $2`,
)

/** Opens the lanes of a source, within one turn of dispatch. The caller has locked the organization. */
export const wakeSource = async (
  tx: Transaction,
  organizationId: OrganizationId,
  sourceId: string,
): Promise<void> => {
  await tx.run(wakeStatement, [organizationId, sourceId])
}

const lockStatement = sql(
  'lane-store.lockDispatch',
  `update dispatch_organizations
      set ready = true
    where organization_id = $1`,
)

/**
 * Begins a change of a whole source of work: first in the order of locks, so that no two of one organization
 * overlap. Claims serve other organizations meanwhile. Wakes dispatch.
 */
export const lockDispatch = async (
  tx: Transaction,
  organizationId: OrganizationId,
): Promise<void> => {
  await tx.run(lockStatement, [organizationId])
}

const pauseStatement = sql(
  'lane-store.setSourcePaused',
  `with woken as (
     update dispatch_organizations
        set ready = true
      where organization_id = $1
     returning organization_id
   )
   update lanes l
      set paused = $3
     from woken w
    where l.organization_id = w.organization_id
      and l.source_id = $2`,
)

/** Stops or resumes the dispatch of one source, a batch or an Automation; live calls go on. */
export const setSourcePaused = async (
  db: Queryable,
  organizationId: OrganizationId,
  sourceId: string,
  isPaused: boolean,
): Promise<void> => {
  await db.run(pauseStatement, [organizationId, sourceId, isPaused])
}
