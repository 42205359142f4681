import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startedInTurn } from '../../tests/support/claim-turns.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import {
  batchLane,
  createCallingOrganization,
  execute,
  insertNode,
  openTrunk,
  queueCalls,
  type CallingOrganization,
} from '../../tests/support/queue-fixtures.ts'
import type { ExplanationReason } from '../contract/explanations.ts'
import type { Database } from '../database/database.ts'
import { endCallAlone, finishCall, cancelQueuedCall } from '../../tests/support/call-ends.ts'
import { explainCall, type Reader } from '../domains/calls/explain-call.ts'
import { setSourcePaused } from '../domains/calls/lane-store.ts'
import { placeManualCall } from '../domains/calls/place-manual-call.ts'
import { newId } from '../runtime/ids.ts'
import type { ClaimedCall } from './claim/claim-calls.ts'
import { passGate } from './gate.ts'
import { parkCalls } from '../domains/calls/lifecycle/park-calls.ts'

const number = '+12025550100'

let database: TestDatabase
let db: Database
let organization: CallingOrganization
const nodeId = newId()
const ended = endCallAlone

before(async () => {
  database = await createTestDatabase()
  db = database.db
})
after(() => database.drop())
beforeEach(async () => {
  for (const table of ['calls', 'lanes', 'nodes']) await execute(db, `delete from ${table}`)
  await execute(db, 'update dispatch_organizations set ready = false')
  await openTrunk(db, 1000)
  await insertNode(db, nodeId)
  organization = await createCallingOrganization(db, { concurrency: 100 })
})

const turn = (channels?: number) => startedInTurn(db, nodeId, channels)

const idsOf = (calls: readonly { callId: string }[]): string[] => calls.map((call) => call.callId)

const queue = async (count: number, lane?: Parameters<typeof queueCalls>[3]): Promise<string[]> =>
  (await queueCalls(db, organization, count, lane, number)).map((call) => call.id).toSorted()

const explain = async (
  id: string | undefined,
  reader?: Reader,
): Promise<readonly ExplanationReason[]> =>
  (await explainCall(db, organization.organizationId, id ?? '', reader))?.reasons ?? []

const finish = (call: ClaimedCall) =>
  db.transaction(async (tx) => {
    assert.ok(await finishCall(tx, call, { status: 'completed' }))
  })

describe('calls to one number', () => {
  it('are live one after the other, in order, without waiting for a poll', async () => {
    const ids = await queue(4)
    for (const id of ids) {
      const [call, ...others] = await turn()
      assert.deepEqual([call?.callId, others.length], [id, 0])
      assert.ok(call)
      assert.deepEqual(await turn(), [])
      assert.equal((await passGate(db, call, ended)).kind, 'dial')
      assert.deepEqual(await turn(), [])
      await finish(call)
    }
    assert.deepEqual(await turn(), [])
  })

  it('delay no other call, however many they are', async () => {
    await queue(1_200)
    const [other] = await queueCalls(db, organization, 1)
    const started = await turn(2)
    assert.equal(started.length, 2)
    assert.ok(idsOf(started).includes(other?.id ?? ''))
  })

  it('are reported to wait for their number, and for which call', async () => {
    const [first, second] = await queue(2)
    await turn()
    const waiting = await explain(second)
    assert.deepEqual(
      waiting.map(({ code, until, details }) => [code, until, details]),
      [['number_in_use', undefined, { call_id: first }]],
    )
    assert.ok(waiting[0]?.message.includes(first ?? ''))
    assert.deepEqual(
      (await explain(first)).map(({ code }) => code),
      ['next'],
    )
  })

  it('may come from the API, the CLI or any other origin', async () => {
    const { organizationId, agentId } = organization
    const request = { agentId, phoneNumber: number }
    const manual = await db.transaction((tx) => placeManualCall(tx, organizationId, request))
    const [holder] = await turn()
    assert.ok(holder)
    assert.equal(holder.callId, manual.id)
    const [fromApi] = await queue(1)
    const again = await db.transaction((tx) => placeManualCall(tx, organizationId, request))
    assert.deepEqual(await turn(), [])
    // The API shows no manual call, and names none.
    assert.deepEqual(await explain(fromApi, 'api'), [
      {
        code: 'number_in_use',
        message: 'Another call to this number is live; this one goes on when that one has ended.',
      },
    ])
    assert.equal((await explain(fromApi))[0]?.details?.['call_id'], manual.id)
    await passGate(db, holder, ended)
    await finish(holder)
    const [next] = await turn()
    assert.ok(next)
    assert.deepEqual(await turn(), [])
    assert.ok([fromApi, again.id].includes(next.callId))
    await passGate(db, next, ended)
    await finish(next)
    assert.deepEqual(new Set([next.callId, ...idsOf(await turn())]), new Set([fromApi, again.id]))
  })

  it('take no channel of the organization while they wait', async () => {
    organization = await createCallingOrganization(db, { concurrency: 2 })
    const [first] = await queue(5)
    const [other] = await queueCalls(db, organization, 1)
    assert.deepEqual(new Set(idsOf(await turn())), new Set([first, other?.id]))
  })

  it('continue when the call that held the number is cancelled before it is dialled', async () => {
    const [first, second] = await queue(2)
    assert.deepEqual(idsOf(await turn()), [first])
    await db.transaction((tx) =>
      cancelQueuedCall(tx, organization.organizationId, first ?? '', 'x'),
    )
    assert.deepEqual(idsOf(await turn()), [second])
  })

  it('continue when the released call is cancelled before it is claimed', async () => {
    const [, second, third] = await queue(3)
    const [first] = await turn()
    assert.ok(first)
    await passGate(db, first, ended)
    await finish(first)
    await db.transaction((tx) =>
      cancelQueuedCall(tx, organization.organizationId, second ?? '', 'x'),
    )
    assert.deepEqual(idsOf(await turn()), [third])
  })

  it('do not wait for one whose batch is paused', async () => {
    const batch = newId()
    const [held] = await queue(1)
    const [holder] = await turn()
    assert.equal(holder?.callId, held)
    const lane = batchLane(organization.organizationId, batch)
    await queue(2, lane)
    await turn()
    const [direct] = await queue(1)
    await turn()
    await setSourcePaused(db, organization.organizationId, batch, true)
    assert.ok(holder)
    await passGate(db, holder, ended)
    await finish(holder)
    assert.deepEqual(idsOf(await turn()), [direct])
  })

  it('of two organizations are live at once', async () => {
    const other = await createCallingOrganization(db)
    await queue(1)
    await queueCalls(db, other, 1, undefined, number)
    assert.equal((await turn()).length, 2)
  })

  it('cannot both be dialled, even if both were claimed', async () => {
    await queue(2)
    const [first] = await turn()
    assert.ok(first)
    assert.equal((await passGate(db, first, ended)).kind, 'dial')
    const [second] = await execute<{ id: string; lease_token: string }>(
      db,
      `update calls set lease_token = gen_random_uuid(), node_id = $1, route = 'env', wait_reason = null, not_before = now()
        where status = 'queued' returning id, lease_token`,
      [nodeId],
    )
    assert.ok(second)
    const claimed = { ...first, callId: second.id, leaseToken: second.lease_token }
    const outcome = await passGate(db, claimed, ended)
    assert.equal(outcome.kind, 'wait')
    assert.deepEqual(await turn(), [])
    await finish(first)
    assert.deepEqual(idsOf(await turn()), [second.id])
  })

  it('are not parked behind a call that is ending at this moment', async () => {
    const [, second] = await queue(2)
    const [first] = await turn(1)
    assert.ok(first)
    await passGate(db, first, ended)
    await execute(db, `update calls set not_before = now(), wait_reason = null where id = $1`, [
      second,
    ])
    const [row] = await execute<{ lane_id: string }>(
      db,
      'select lane_id from calls where id = $1',
      [second],
    )
    await db.transaction(async (tx) => {
      await finishCall(tx, first, { status: 'completed' })
      assert.equal(await parkCalls(db, organization.organizationId, [row?.lane_id ?? '']), 0)
    })
    assert.deepEqual(idsOf(await turn()), [second])
  })
})
