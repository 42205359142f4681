import assert from 'node:assert/strict'
import { claimCalls, type ClaimedCall } from '../../../src/dispatch/claim/claim-calls.ts'
import { takeClaimTurn } from '../../../src/dispatch/claim/claim-turn.ts'
import { passGate } from '../../../src/dispatch/gate.ts'
import { computeDueLanes } from '../../../src/dispatch/lane-edges.ts'
import { rescueDeadNodes } from '../../../src/dispatch/lease/rescue.ts'
import { markConnected } from '../../../src/domains/calls/lifecycle/mark-connected.ts'
import {
  requeueCongested,
  requeueUnsent,
} from '../../../src/domains/calls/lifecycle/requeue-call.ts'
import { setSourcePaused, type Lane } from '../../../src/domains/calls/lane-store.ts'
import { policyToJson } from '../../../src/domains/organizations/calling-policy.ts'
import type { OrganizationId } from '../../../src/contract/organization-id.ts'
import { newId } from '../../../src/runtime/ids.ts'
import { execute, immediateLane, insertNode, queueCalls } from '../../support/queue-fixtures.ts'
import { calleeZones, mayRing } from './calling-hours.ts'
import {
  drop,
  endsOf,
  passTime,
  pickPolicy,
  take,
  tenantOf,
  trunkChannels,
  type Dial,
  type World,
} from './world.ts'
import { requestCancel } from '../../../src/domains/calls/lifecycle/cancel-queued-call.ts'
import { endHeld } from '../../../src/domains/calls/lifecycle/end-held-call.ts'

const numbers = ['+12025550100', '+12025550101', '+12025550102', '+12025550103'] as const

const place = async (world: World): Promise<void> => {
  const tenant = world.pick(world.tenants)
  const { organizationId } = tenant
  const timeZones = world.pick(calleeZones)
  const lane: Lane = world.chance(0.5)
    ? { ...immediateLane(organizationId), timeZones }
    : { organizationId, kind: 'batch', ...tenant.batch, timeZones }
  const count = world.pick([1, 2, 5])
  // Few numbers, so that calls to one are queued together all the time.
  for (let placed = 0; placed < count; placed += 1) {
    const calls = await queueCalls(world.db, tenant, 1, lane, world.pick(numbers))
    for (const { id } of calls) world.laneOfCall.set(id, lane)
  }
}

const claim = async (world: World): Promise<void> => {
  const limit = world.pick([1, 3, 10])
  const { calls } = await claimCalls(world.db, {
    nodeId: world.nodeId,
    route: 'env',
    limit,
    except: [],
  })
  for (const call of calls) hold(world, call)
}

/** A whole turn of the dispatcher: lanes whose edge has come, organizations whose time has come, and claims. */
export const takeTurn = async (world: World): Promise<void> => {
  await takeClaimTurn({
    database: world.db,
    nodeId: world.nodeId,
    routes: ['env'],
    freeChannels: () => trunkChannels - world.claimed.length,
    start: (call) => hold(world, call),
  })
}

const hold = (world: World, call: ClaimedCall): void => {
  world.claimed.push({ ...call, nodeId: world.nodeId, isDialled: false })
}

export const gate = async (world: World): Promise<void> => {
  const dial = take(world, false)
  if (!dial) return
  const outcome = await passGate(world.db, dial, endsOf(world))
  if (outcome.kind !== 'dial') return drop(world, dial)
  dial.isDialled = true
  if (world.isAlone) assert.ok(isOpenByTheWall(world, dial), 'a phone rings outside the hours')
}

const isOpenByTheWall = (world: World, { organizationId, callId }: Dial): boolean => {
  const lane = world.laneOfCall.get(callId)
  const { policy } = tenantOf(world, organizationId)
  return mayRing(policy, lane?.timeZones, lane?.callingWindow, world.nowMs)
}

export const talkAndFinish = async (world: World): Promise<void> => {
  const dial = take(world, true)
  if (!dial) return
  drop(world, dial)
  world.rang.set(dial.callId, (world.rang.get(dial.callId) ?? 0) + 1)
  if (world.chance(0.5)) await markConnected(world.db, dial, new Date())
  const status = world.pick(['completed', 'failed', 'cancelled'] as const)
  await world.db.transaction((tx) => endsOf(world)(tx, endHeld(dial, { status })))
}

const goBack = async (world: World): Promise<void> => {
  const dial = take(world, true)
  if (!dial) return
  drop(world, dial)
  if (world.chance(0.5)) await requeueUnsent(world.db, dial, 'not sent')
  else await requeueCongested(world.db, dial, { attempt: 1, reason: 'SIP 503' })
}

const cancel = async (world: World): Promise<void> => {
  const rows = await execute<{ id: string; organization_id: OrganizationId }>(
    world.db,
    'select id, organization_id from calls order by id',
  )
  if (rows.length === 0) return
  const row = world.pick(rows)
  await world.db.transaction((tx) =>
    endsOf(world)(tx, requestCancel(row.organization_id, row.id, 'api')),
  )
}

const pause = (world: World): Promise<void> => {
  const { organizationId, batch } = world.pick(world.tenants)
  return setSourcePaused(world.db, organizationId, batch.sourceId, world.chance(0.5))
}

const editPolicy = async (world: World): Promise<void> => {
  const tenant = world.pick(world.tenants)
  tenant.policy = pickPolicy(world.pick)
  await execute(world.db, 'update organizations set policy = $2 where id = $1', [
    tenant.organizationId,
    JSON.stringify(policyToJson(tenant.policy)),
  ])
  if (world.chance(0.7)) await computeDueLanes(world.db)
}

const minuteMs = 60_000
/** Minutes that pass at once: to either side of a window's edge, over a night, over a weekend. */
const whiles = [1, 14, 30, 61, 330, 1440]

const letTimePass = async (world: World): Promise<void> => {
  await passTime(world, world.pick(whiles) * minuteMs)
  if (world.chance(0.7)) await computeDueLanes(world.db)
}

/** The node dies with its calls: some had sent their INVITE, some had not. */
const killNode = async (world: World): Promise<void> => {
  for (const dial of world.claimed) {
    if (dial.isDialled && world.chance(0.5)) {
      world.rang.set(dial.callId, (world.rang.get(dial.callId) ?? 0) + 1)
    }
  }
  const dead = world.claimed
  world.claimed = []
  await execute(
    world.db,
    `update nodes set lease_until = now() - interval '1 second' where id = $1`,
    [world.nodeId],
  )
  world.nodeId = newId()
  await insertNode(world.db, world.nodeId)
  await rescueDeadNodes(world.db, endsOf(world))
  // A zombie wakes up and continues: nothing it does may count.
  for (const dial of dead) {
    assert.equal((await passGate(world.db, dial, endsOf(world))).kind, 'lost')
    assert.equal(await markConnected(world.db, dial, new Date()), false)
  }
}

const steps: readonly [number, string, (world: World) => Promise<void>][] = [
  [5, 'place', place],
  [3, 'claim', claim],
  [3, 'takeTurn', takeTurn],
  [8, 'gate', gate],
  [5, 'talkAndFinish', talkAndFinish],
  [2, 'goBack', goBack],
  [2, 'cancel', cancel],
  [1, 'pause', pause],
  [1, 'editPolicy', editPolicy],
  [4, 'letTimePass', letTimePass],
  [1, 'killNode', killNode],
]
/** Each with its probability. */
export const weightedSteps = steps.flatMap(([weight, name, run]) =>
  Array.from({ length: weight }, () => ({ name, run })),
)
