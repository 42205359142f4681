import assert from 'node:assert/strict'
import { claimCalls } from '../../../src/dispatch/claim-calls.ts'
import { passGate } from '../../../src/dispatch/gate.ts'
import { computeDueLanes } from '../../../src/dispatch/lane-edges.ts'
import { rescueDeadNodes } from '../../../src/dispatch/rescue.ts'
import {
  finishCall,
  markConnected,
  requeueCongested,
  requeueUnsent,
} from '../../../src/domains/calls/call-progress-store.ts'
import { requestCancel } from '../../../src/domains/calls/cancel-store.ts'
import { setSourcePaused } from '../../../src/domains/calls/lane-store.ts'
import { newId } from '../../../src/runtime/ids.ts'
import {
  batchLane,
  execute,
  immediateLane,
  insertNode,
  queueCalls,
} from '../../support/queue-fixtures.ts'
import { countEnd, drop, onEnded, take, type World } from './world.ts'

const place = async (world: World): Promise<void> => {
  const organization = world.pick(world.organizations)
  const batch = world.batches[world.organizations.indexOf(organization)] ?? ''
  const lane = world.chance(0.5)
    ? immediateLane(organization.organizationId)
    : batchLane(organization.organizationId, batch)
  await queueCalls(world.db, organization, world.pick([1, 2, 5]), lane)
}

export const claim = async (world: World): Promise<void> => {
  const limit = world.pick([1, 3, 10])
  const { calls } = await claimCalls(world.db, { nodeId: world.nodeId, limit, except: [] })
  for (const call of calls) world.claimed.push({ ...call, nodeId: world.nodeId, isDialled: false })
}

export const gate = async (world: World): Promise<void> => {
  const dial = take(world, false)
  if (!dial) return
  const outcome = await passGate(world.db, dial, onEnded(world))
  if (outcome.kind === 'dial') dial.isDialled = true
  else drop(world, dial)
}

export const talkAndFinish = async (world: World): Promise<void> => {
  const dial = take(world, true)
  if (!dial) return
  drop(world, dial)
  world.rang.set(dial.callId, (world.rang.get(dial.callId) ?? 0) + 1)
  if (world.chance(0.5)) await markConnected(world.db, dial, new Date())
  const ended = await world.db.transaction((tx) =>
    finishCall(tx, dial, { status: world.pick(['completed', 'failed', 'cancelled'] as const) }),
  )
  if (ended) countEnd(world, dial.callId)
}

const goBack = async (world: World): Promise<void> => {
  const dial = take(world, true)
  if (!dial) return
  drop(world, dial)
  if (world.chance(0.5)) await requeueUnsent(world.db, dial, 'not sent')
  else await requeueCongested(world.db, dial, { attempt: 1, reason: 'SIP 503' })
}

const cancel = async (world: World): Promise<void> => {
  const rows = await execute<{ id: string; organization_id: string }>(
    world.db,
    'select id, organization_id from calls order by id',
  )
  if (rows.length === 0) return
  const row = world.pick(rows)
  await world.db.transaction(async (tx) => {
    const cancelled = await requestCancel(tx, row.organization_id, row.id)
    if (cancelled?.ended) await onEnded(world)(tx, cancelled.ended)
  })
}

const pause = (world: World): Promise<void> => {
  const organization = world.pick(world.organizations)
  const batch = world.batches[world.organizations.indexOf(organization)] ?? ''
  return setSourcePaused(world.db, organization.organizationId, batch, world.chance(0.5))
}

const editPolicy = async (world: World): Promise<void> => {
  const { organizationId } = world.pick(world.organizations)
  await execute(
    world.db,
    `update organizations set policy = jsonb_set(policy, '{time_zone}', to_jsonb($2::text)) where id = $1`,
    [organizationId, world.pick(['UTC', 'Asia/Tokyo', 'America/New_York'])],
  )
  if (world.chance(0.7)) await computeDueLanes(world.db)
}

/** What was due in an hour is due now. */
export const letTimePass = async (world: World): Promise<void> => {
  await execute(world.db, `update calls set not_before = not_before - interval '1 hour'`)
  await execute(world.db, `update dispatch_organizations set wake_at = wake_at - interval '1 hour'`)
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
  await execute(world.db, 'update nodes set lease_until = now() where id = $1', [world.nodeId])
  world.nodeId = newId()
  await insertNode(world.db, world.nodeId)
  await rescueDeadNodes(world.db, onEnded(world))
  // A zombie wakes up and goes on where it was: nothing of it may count.
  for (const dial of dead) {
    assert.equal((await passGate(world.db, dial, onEnded(world))).kind, 'lost')
    assert.equal(await markConnected(world.db, dial, new Date()), false)
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
/** Each as often as it is likely. */
export const weightedSteps = steps.flatMap(([weight, name, run]) =>
  Array.from({ length: weight }, () => ({ name, run })),
)
