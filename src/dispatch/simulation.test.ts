import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  batchLane,
  clearOrganizations,
  createCallingOrganization,
  execute,
  immediateLane,
  insertNode,
  openTrunk,
  queueCalls,
  type CallingOrganization,
} from '../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import type { CallStatus } from '../contract/states.ts'
import type { OnCallEnded } from '../domains/calls/call-ended.ts'
import { callTransitions, isTerminal } from '../domains/calls/call-states.ts'
import {
  finishCall,
  markConnected,
  requeueCongested,
  requeueUnsent,
} from '../domains/calls/call-progress-store.ts'
import { requestCancel } from '../domains/calls/cancel-store.ts'
import { setSourcePaused } from '../domains/calls/lane-store.ts'
import { newId } from '../runtime/ids.ts'
import { claimCalls, type ClaimedCall } from './claim-calls.ts'
import { findWork } from './find-work.ts'
import { passGate } from './gate.ts'
import { computeDueLanes } from './lane-edges.ts'
import { rescueDeadNodes } from './rescue.ts'

/**
 * Random histories of the queue: everything that can happen to it, in any order, and after each step the promises it
 * makes. A history is decided by its seed alone. `OUTDIAL_SIMULATION_SEEDS` runs more of them.
 */
const seeds = Number(process.env['OUTDIAL_SIMULATION_SEEDS'] ?? 8)
const stepsPerSeed = 60
const channels = 7

let test: TestDatabase

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

/** mulberry32: small, and the same everywhere. */
const createRandom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface Dial extends ClaimedCall {
  nodeId: string
  isDialled: boolean
}

interface World {
  readonly organizations: readonly CallingOrganization[]
  readonly batches: readonly string[]
  readonly pick: <T>(items: readonly T[]) => T
  readonly chance: (probability: number) => boolean
  nodeId: string
  claimed: Dial[]
  /** INVITEs that may have rung, by call. */
  readonly rang: Map<string, number>
  readonly ended: Map<string, number>
}

const createWorld = async (seed: number): Promise<World> => {
  await clearOrganizations(test.db)
  await openTrunk(test.db, channels)
  const random = createRandom(seed)
  const organizations = [
    await createCallingOrganization(test.db, { concurrency: 3 }),
    await createCallingOrganization(test.db, { concurrency: 6 }),
  ]
  const nodeId = newId()
  await insertNode(test.db, nodeId)
  return {
    organizations,
    batches: organizations.map(() => newId()),
    pick: (items) => {
      const item = items[Math.floor(random() * items.length)]
      assert.ok(item !== undefined)
      return item
    },
    chance: (probability) => random() < probability,
    nodeId,
    claimed: [],
    rang: new Map(),
    ended: new Map(),
  }
}

const countEnd = (world: World, callId: string): void => {
  world.ended.set(callId, (world.ended.get(callId) ?? 0) + 1)
}

const onEnded =
  (world: World): OnCallEnded =>
  (_, call) => {
    countEnd(world, call.callId)
    return Promise.resolve()
  }

const take = (world: World, isDialled: boolean): Dial | undefined => {
  const candidates = world.claimed.filter((one) => one.isDialled === isDialled)
  return candidates.length === 0 ? undefined : world.pick(candidates)
}

const drop = (world: World, dial: Dial): void => {
  world.claimed = world.claimed.filter((one) => one !== dial)
}

const place = async (world: World): Promise<void> => {
  const organization = world.pick(world.organizations)
  const batch = world.batches[world.organizations.indexOf(organization)] ?? ''
  const lane = world.chance(0.5)
    ? immediateLane(organization.organizationId)
    : batchLane(organization.organizationId, batch)
  await queueCalls(test.db, organization, world.pick([1, 2, 5]), lane)
}

const claim = async (world: World): Promise<void> => {
  const limit = world.pick([1, 3, 10])
  const { calls } = await claimCalls(test.db, { nodeId: world.nodeId, limit, except: [] })
  for (const call of calls) world.claimed.push({ ...call, nodeId: world.nodeId, isDialled: false })
}

const gate = async (world: World): Promise<void> => {
  const dial = take(world, false)
  if (!dial) return
  const outcome = await passGate(test.db, dial, onEnded(world))
  if (outcome.kind === 'dial') dial.isDialled = true
  else drop(world, dial)
}

const talkAndFinish = async (world: World): Promise<void> => {
  const dial = take(world, true)
  if (!dial) return
  drop(world, dial)
  world.rang.set(dial.callId, (world.rang.get(dial.callId) ?? 0) + 1)
  if (world.chance(0.5)) await markConnected(test.db, dial, new Date())
  const ended = await test.db.transaction((tx) =>
    finishCall(tx, dial, { status: world.pick(['completed', 'failed', 'cancelled'] as const) }),
  )
  if (ended) countEnd(world, dial.callId)
}

const goBack = async (world: World): Promise<void> => {
  const dial = take(world, true)
  if (!dial) return
  drop(world, dial)
  if (world.chance(0.5)) await requeueUnsent(test.db, dial, 'not sent')
  else await requeueCongested(test.db, dial, { attempt: 1, reason: 'SIP 503' })
}

const cancel = async (world: World): Promise<void> => {
  const rows = await execute<{ id: string; organization_id: string }>(
    test.db,
    'select id, organization_id from calls order by id',
  )
  if (rows.length === 0) return
  const row = world.pick(rows)
  await test.db.transaction(async (tx) => {
    const cancelled = await requestCancel(tx, row.organization_id, row.id)
    if (cancelled?.ended) await onEnded(world)(tx, cancelled.ended)
  })
}

const pause = (world: World): Promise<void> => {
  const organization = world.pick(world.organizations)
  const batch = world.batches[world.organizations.indexOf(organization)] ?? ''
  return setSourcePaused(test.db, organization.organizationId, batch, world.chance(0.5))
}

const editPolicy = async (world: World): Promise<void> => {
  const { organizationId } = world.pick(world.organizations)
  await execute(
    test.db,
    `update organizations set policy = jsonb_set(policy, '{time_zone}', to_jsonb($2::text)) where id = $1`,
    [organizationId, world.pick(['UTC', 'Asia/Tokyo', 'America/New_York'])],
  )
  if (world.chance(0.7)) await computeDueLanes(test.db)
}

/** What was due in an hour is due now. */
const letTimePass = async (): Promise<void> => {
  await execute(test.db, `update calls set not_before = not_before - interval '1 hour'`)
  await execute(test.db, `update dispatch_organizations set wake_at = wake_at - interval '1 hour'`)
}

/** The node dies with whatever it holds: some of its calls had sent their INVITE, some had not. */
const killNode = async (world: World): Promise<void> => {
  for (const dial of world.claimed) {
    if (dial.isDialled && world.chance(0.5)) {
      world.rang.set(dial.callId, (world.rang.get(dial.callId) ?? 0) + 1)
    }
  }
  const dead = world.claimed
  world.claimed = []
  await execute(test.db, 'update nodes set lease_until = now() where id = $1', [world.nodeId])
  world.nodeId = newId()
  await insertNode(test.db, world.nodeId)
  await rescueDeadNodes(test.db, onEnded(world))
  // A zombie wakes up and goes on where it was: nothing of it may count.
  for (const dial of dead) {
    assert.equal((await passGate(test.db, dial, onEnded(world))).kind, 'lost')
    assert.equal(await markConnected(test.db, dial, new Date()), false)
  }
}

const steps: readonly [number, string, (world: World) => Promise<void>][] = [
  [5, 'place', place],
  [6, 'claim', claim],
  [8, 'gate', gate],
  [5, 'talkAndFinish', talkAndFinish],
  [2, 'goBack', goBack],
  [2, 'cancel', cancel],
  [1, 'pause', pause],
  [1, 'editPolicy', editPolicy],
  [2, 'letTimePass', letTimePass],
  [1, 'killNode', killNode],
]
const weighted = steps.flatMap(([weight, name, run]) =>
  Array.from({ length: weight }, () => ({ name, run })),
)

interface Observed {
  readonly id: string
  readonly status: CallStatus
  readonly is_sound: boolean
}

const observe = async (): Promise<Map<string, CallStatus>> => {
  const rows = await execute<Observed>(
    test.db,
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

const checkPromises = async (world: World, before: Map<string, CallStatus>): Promise<void> => {
  const now = await observe()
  for (const [id, status] of now) {
    assert.ok(isReachable(before.get(id) ?? 'queued', status), `${before.get(id)} became ${status}`)
    if (isTerminal(status)) assert.equal(world.ended.get(id), 1, `${id} ended once`)
  }
  for (const [id, times] of world.rang) assert.equal(times, 1, `${id} rang ${times} times`)
  const [limits] = await execute<{ is_kept: boolean; all: number }>(
    test.db,
    `select coalesce(bool_and(live <= concurrency), true) as is_kept, coalesce(sum(live), 0)::int as all
       from (select o.concurrency, count(c.id) as live from organizations o
               left join calls c on c.organization_id = o.id and c.lease_token is not null group by o.id) x`,
  )
  assert.ok(limits?.is_kept && limits.all <= channels, 'capacity')
  await checkNobodyIsForgotten()
}

/** No lost wake-up: where a call could be claimed now, its organization is ready or about to be. */
const checkNobodyIsForgotten = async (): Promise<void> => {
  const forgotten = await execute(
    test.db,
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

/** Everything is let go on: every accepted call reaches an end. */
const drainWorld = async (world: World): Promise<void> => {
  for (const [index, organization] of world.organizations.entries()) {
    await setSourcePaused(test.db, organization.organizationId, world.batches[index] ?? '', false)
  }
  for (let round = 0; round < 200; round += 1) {
    await letTimePass()
    await computeDueLanes(test.db)
    await findWork(test.db)
    await claim(world)
    while (world.claimed.some((dial) => !dial.isDialled)) await gate(world)
    while (world.claimed.length > 0) await talkAndFinish(world)
    if ([...(await observe()).values()].every(isTerminal)) return
  }
  assert.fail('some call never ended')
}

describe('random histories of the queue', () => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    it(`keeps every promise in history ${seed}`, async () => {
      const world = await createWorld(seed)
      let before = await observe()
      for (let step = 0; step < stepsPerSeed; step += 1) {
        const { name, run } = world.pick(weighted)
        try {
          await run(world)
          await checkPromises(world, before)
        } catch (error) {
          throw new Error(`seed ${seed}, step ${step}, ${name}`, { cause: error })
        }
        before = await observe()
      }
      await drainWorld(world)
      await checkPromises(world, before)
    })
  }
})

describe('random histories with four things at a time', () => {
  for (let seed = 1; seed <= Math.ceil(seeds / 3); seed += 1) {
    it(`keep every promise in history ${seed}`, async () => {
      const world = await createWorld(1_000 + seed)
      let before = await observe()
      const harmless = weighted.filter(({ name }) => name !== 'killNode')
      for (let step = 0; step < stepsPerSeed / 4; step += 1) {
        const together = Array.from({ length: 4 }, () => world.pick(harmless))
        // Two of one kind would pick the same call twice, which one node never does.
        const distinct = [...new Map(together.map((one) => [one.name, one])).values()]
        await Promise.all(distinct.map(({ run }) => run(world)))
        await checkPromises(world, before)
        before = await observe()
      }
      await drainWorld(world)
    })
  }
})
