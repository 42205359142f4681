import assert from 'node:assert/strict'
import type { Queryable } from '../../../src/database/database.ts'
import type { CallStatus } from '../../../src/contract/states.ts'
import type { CallingWindowJson } from '../../../src/calling-hours/weekly-window.ts'
import { zonesOfText } from '../../../src/domains/calls/lane-store.ts'
import { callTransitions, isTerminal } from '../../../src/domains/calls/lifecycle/call-states.ts'
import { execute } from '../../support/queue-fixtures.ts'
import { mayRing } from './calling-hours.ts'
import { tenantOf, trunkChannels, type World } from './world.ts'
import type { OrganizationId } from '../../../src/contract/organization-id.ts'

interface Observed {
  readonly id: string
  readonly status: CallStatus
  readonly is_sound: boolean
}

export const observe = async (db: Queryable): Promise<Map<string, CallStatus>> => {
  const rows = await execute<Observed>(
    db,
    `select id, status,
            (ended_at is null) = (status in ('queued', 'dialing', 'in_progress'))
            and (dialing_at is null or status <> 'queued')
            and (answer_status is not null) = (ended_at is not null)
            and (cancelled_at is not null) = (status = 'cancelled') as is_sound
       from calls`,
  )
  for (const row of rows)
    assert.ok(row.is_sound, `${row.id} is ${row.status}, its columns disagree`)
  return new Map(rows.map((row) => [row.id, row.status]))
}

/** Whether `to` can be reached from `from`, in any number of steps. */
const isReachable = (from: CallStatus, to: CallStatus, seen = new Set<CallStatus>()): boolean =>
  from === to ||
  callTransitions[from].some((next) => {
    if (seen.has(next)) return false
    return isReachable(next, to, seen.add(next))
  })

/** What must hold after every step. Returns the present state. */
export const checkPromises = async (
  world: World,
  before: Map<string, CallStatus>,
): Promise<Map<string, CallStatus>> => {
  const now = await world.db.transaction(async (tx) => {
    const [calls] = await Promise.all([
      observe(tx),
      checkCapacity(tx),
      checkOneCallPerNumber(tx),
      checkNobodyIsForgotten(tx),
      world.isAlone && checkHours(tx, world),
    ])
    return calls
  })
  for (const [id, status] of now) {
    assert.ok(isReachable(before.get(id) ?? 'queued', status), `${before.get(id)} became ${status}`)
    if (isTerminal(status)) assert.equal(world.ended.get(id), 1, `${id} ended once`)
  }
  for (const [id, times] of world.rang) assert.equal(times, 1, `${id} rang ${times} times`)
  return now
}

const checkCapacity = async (tx: Queryable): Promise<void> => {
  const [limits] = await execute<{ is_kept: boolean; all: number }>(
    tx,
    `select coalesce(bool_and(live <= concurrency), true) as is_kept, coalesce(sum(live), 0)::int as all
       from (select o.concurrency, count(c.id) as live from organizations o
               left join calls c on c.organization_id = o.id and c.lease_token is not null group by o.id) x`,
  )
  assert.ok(limits?.is_kept && limits.all <= trunkChannels, 'capacity')
}

/** No phone is ringing, or about to ring, by two calls of one organization at once. */
const checkOneCallPerNumber = async (tx: Queryable): Promise<void> => {
  const shared = await execute(
    tx,
    `select organization_id, phone_number
       from calls
      where lease_token is not null
      group by organization_id, phone_number
     having count(*) > 1`,
  )
  assert.deepEqual(shared, [], 'two live calls to one number')
  const forgotten = await execute(
    tx,
    `select c.id
       from calls c
      where c.status = 'queued'
        and c.wait_reason = 'number_in_use'
        and not exists (select from calls x
                         where x.organization_id = c.organization_id
                           and x.phone_number = c.phone_number
                           and x.lease_token is not null)
        and not exists (select from calls x
                         where x.organization_id = c.organization_id
                           and x.phone_number = c.phone_number
                           and x.lane_id = c.lane_id
                           and x.status = 'queued'
                           and x.number_next)`,
  )
  assert.deepEqual(forgotten, [], 'a call waits for a number that no call holds')
}

/** No lost wake-up: where a call could be claimed now, its organization is ready or about to be. */
const checkNobodyIsForgotten = async (tx: Queryable): Promise<void> => {
  const forgotten = await execute(
    tx,
    `select d.organization_id
       from dispatch_organizations d
       join organizations o on o.id = d.organization_id
      where not d.ready
        and d.wake_at > clock_timestamp()
        and (select count(*) from calls c where c.organization_id = o.id and c.lease_token is not null) < o.concurrency
        and exists (select from calls c
                      join lanes l on l.organization_id = c.organization_id and l.id = c.lane_id
                     where c.organization_id = o.id and c.status = 'queued' and c.lease_token is null
                       and c.not_before <= clock_timestamp() and not l.paused
                       and l.opens_at <= clock_timestamp() and l.closes_at > clock_timestamp())`,
  )
  assert.deepEqual(forgotten, [], 'an organization sleeps though it has a call to claim')
}

interface LaneHours {
  readonly organization_id: OrganizationId
  readonly time_zones: string
  readonly calling_window: CallingWindowJson | null
  readonly is_open: boolean
  readonly is_due: boolean
}

/**
 * A lane is open exactly when the clocks of its places allow it; a lane that waits to be computed is never wrongly
 * open.
 */
const checkHours = async (tx: Queryable, world: World): Promise<void> => {
  const lanes = await execute<LaneHours>(
    tx,
    `select organization_id, time_zones, calling_window, recompute_at <= now() as is_due,
            coalesce(opens_at <= now() and closes_at > now(), false) as is_open
       from lanes`,
  )
  for (const lane of lanes) {
    const { policy } = tenantOf(world, lane.organization_id)
    const zones = zonesOfText(lane.time_zones)
    const expected = mayRing(policy, zones, lane.calling_window ?? undefined, world.nowMs)
    const isRight = lane.is_due ? expected || !lane.is_open : lane.is_open === expected
    assert.ok(
      isRight,
      `a lane of ${zones?.join(', ') ?? policy.timeZone} is ${lane.is_open ? 'open' : 'closed'}`,
    )
  }
}
