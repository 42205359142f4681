import assert from 'node:assert/strict'
import type { CallStatus } from '../../../src/contract/states.ts'
import { callTransitions, isTerminal } from '../../../src/domains/calls/call-states.ts'
import { execute } from '../../support/queue-fixtures.ts'
import { trunkChannels, type World } from './world.ts'

interface Observed {
  readonly id: string
  readonly status: CallStatus
  readonly is_sound: boolean
}

export const observe = async (world: World): Promise<Map<string, CallStatus>> => {
  const rows = await execute<Observed>(
    world.db,
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

/** Whether `to` can be reached from `from`, in as many steps as it takes. */
const isReachable = (from: CallStatus, to: CallStatus, seen = new Set<CallStatus>()): boolean =>
  from === to ||
  callTransitions[from].some((next) => {
    if (seen.has(next)) return false
    return isReachable(next, to, seen.add(next))
  })

/** What must hold after every step, whatever it was. */
export const checkPromises = async (
  world: World,
  before: Map<string, CallStatus>,
): Promise<void> => {
  const now = await observe(world)
  for (const [id, status] of now) {
    assert.ok(isReachable(before.get(id) ?? 'queued', status), `${before.get(id)} became ${status}`)
    if (isTerminal(status)) assert.equal(world.ended.get(id), 1, `${id} ended once`)
  }
  for (const [id, times] of world.rang) assert.equal(times, 1, `${id} rang ${times} times`)
  const [limits] = await execute<{ is_kept: boolean; all: number }>(
    world.db,
    `select coalesce(bool_and(live <= concurrency), true) as is_kept, coalesce(sum(live), 0)::int as all
       from (select o.concurrency, count(c.id) as live from organizations o
               left join calls c on c.organization_id = o.id and c.lease_token is not null group by o.id) x`,
  )
  assert.ok(limits?.is_kept && limits.all <= trunkChannels, 'capacity')
  await checkNobodyIsForgotten(world)
}

/** No lost wake-up: where a call could be claimed now, its organization is ready or about to be. */
const checkNobodyIsForgotten = async (world: World): Promise<void> => {
  const forgotten = await execute(
    world.db,
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
