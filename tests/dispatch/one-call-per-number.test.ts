import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import type { ClaimedCall } from '../../src/dispatch/claim/claim-calls.ts'
import { createNumberSweep } from '../../src/dispatch/forgotten-numbers.ts'
import { passGate } from '../../src/dispatch/gate.ts'
import { rescueDeadNodes } from '../../src/dispatch/lease/rescue.ts'
import { endCallAlone, finishCall, requestCancel } from '../support/call-ends.ts'
import { requeueUnsent } from '../../src/domains/calls/lifecycle/requeue-call.ts'
import type { Lane } from '../../src/domains/calls/lane-store.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { newId } from '../../src/runtime/ids.ts'
import { startedInTurn } from '../support/claim-turns.ts'
import {
  batchLane,
  clearOrganizations,
  createCallingOrganization,
  execute,
  immediateLane,
  insertNode,
  openTrunk,
  queueCalls,
} from '../support/queue-fixtures.ts'
import { createRandom } from '../support/random.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const seeds = [1, 2, 3, 4, 5, 6]
const numbers = ['+12025550100', '+12025550101', '+12025550102']
const nodesAtOnce = 3
const callsOfEach = 40
/** Far more turns than this many calls need. */
const maxTurns = 5_000

let test: TestDatabase
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

const noFollowUp = endCallAlone

/** Immediate calls, a batch and an Automation of two organizations to the same three numbers. */
const queueAll = async (random: ReturnType<typeof createRandom>) => {
  const organizations = [
    await createCallingOrganization(test.db, { concurrency: 20 }),
    await createCallingOrganization(test.db, { concurrency: 20 }),
  ]
  for (const organization of organizations) {
    const { organizationId } = organization
    const lanes: Lane[] = [
      immediateLane(organizationId),
      batchLane(organizationId, newId()),
      { ...batchLane(organizationId, newId()), kind: 'automation' },
    ]
    for (let placed = 0; placed < callsOfEach; placed += 1)
      await queueCalls(test.db, organization, 1, random.pick(lanes), random.pick(numbers))
  }
  return organizations
}

/** Several nodes claim, dial, end, requeue and die at the same time, until every call has ended. */
const play = async (seed: number) => {
  const { db } = test
  await clearOrganizations(db)
  await openTrunk(db)
  const random = createRandom(seed)
  const organizations = await queueAll(random)
  const live = new Map<string, string>()
  const seen = { atOnce: 0, shared: 0, deaths: 0 }

  const talk = async (call: ClaimedCall, isDead: () => boolean): Promise<void> => {
    const outcome = await passGate(db, call, noFollowUp)
    if (outcome.kind !== 'dial') return
    const { phone_number: number } = outcome.row
    const key = `${call.organizationId} ${number}`
    assert.equal(live.get(key), undefined, `two live calls to ${number}`)
    live.set(key, call.callId)
    seen.atOnce = Math.max(seen.atOnce, live.size)
    if (organizations.every((each) => live.has(`${each.organizationId} ${number}`)))
      seen.shared += 1
    for (let waits = 0; waits < 20; waits += 1) await setImmediate()
    if (isDead()) return
    live.delete(key)
    if (random.chance(0.15)) await requeueUnsent(db, call, 'not sent')
    else await db.transaction((tx) => finishCall(tx, call, { status: 'completed' }))
  }

  const isOver = async (): Promise<boolean> =>
    (await execute(db, 'select from calls where ended_at is null limit 1')).length === 0

  const runNode = async (): Promise<void> => {
    let nodeId = newId()
    await insertNode(db, nodeId)
    for (let turns = 0; turns < maxTurns && !(await isOver()); turns += 1) {
      const calls = await startedInTurn(db, nodeId, random.pick([1, 5, 20]))
      const own = nodeId
      const mayDie = seen.deaths < 4 && random.chance(0.1)
      await Promise.all(calls.map((call) => talk(call, () => mayDie)))
      if (!mayDie) continue
      seen.deaths += 1
      // Its dialled calls end with the process; the others find out by the lease.
      for (const { callId } of calls)
        for (const [key, id] of live) if (id === callId) live.delete(key)
      await execute(db, `update nodes set lease_until = now() - interval '1 s' where id = $1`, [
        own,
      ])
      await rescueDeadNodes(db, noFollowUp)
      nodeId = newId()
      await insertNode(db, nodeId)
    }
  }

  const disturb = async (): Promise<void> => {
    const sweep = createNumberSweep(db)
    for (let turns = 0; turns < maxTurns && !(await isOver()); turns += 1) {
      const waiting = await execute<{ id: string; organization_id: OrganizationId }>(
        db,
        `select id, organization_id from calls where status = 'queued' order by id limit 10`,
      )
      const call = waiting.length > 0 && random.chance(0.2) ? random.pick(waiting) : undefined
      if (call)
        await db.transaction((tx) => requestCancel(tx, call.organization_id, call.id, 'api'))
      // Unsent calls are due at once; the sweep runs at the same time.
      await execute(
        db,
        `update calls set not_before = now() where wait_reason = 'not_sent' and status = 'queued'`,
      )
      await execute(db, 'update dispatch_organizations set ready = true where not ready')
      await sweep()
    }
  }

  await Promise.all([...Array.from({ length: nodesAtOnce }, runNode), disturb()])
  return { ...seen, isOver: await isOver() }
}

describe('calls, batches and runs to few numbers, over several nodes', () => {
  for (const seed of seeds) {
    it(`never have two live calls to one number (seed ${seed})`, async () => {
      const { atOnce, shared, deaths, isOver } = await play(seed)
      assert.ok(isOver, 'every call came to its end')
      assert.ok(atOnce > 1 && shared > 0 && deaths > 0, JSON.stringify({ atOnce, shared, deaths }))
    })
  }
})
