import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  claimAndSettle,
  clearOrganizations,
  createCallingOrganization,
  execute,
  insertNode,
  openTrunk,
  queueCalls,
} from '../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { finishCall, endCallAlone } from '../../tests/support/call-ends.ts'
import { markConnected } from '../domains/calls/lifecycle/mark-connected.ts'
import { recordSummary } from '../domains/calls/record-summary.ts'
import { requeueCongested, requeueUnsent } from '../domains/calls/lifecycle/requeue-call.ts'
import { newId } from '../runtime/ids.ts'
import type { ClaimedCall } from './claim/claim-calls.ts'
import { passGate, type GateOutcome } from './gate.ts'

let test: TestDatabase

before(async () => {
  test = await createTestDatabase()
  await openTrunk(test.db)
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  await queueCalls(test.db, await createCallingOrganization(test.db), 1)
})

const claimOne = async (): Promise<ClaimedCall> => {
  const nodeId = newId()
  await insertNode(test.db, nodeId)
  const { calls } = await claimAndSettle(test.db, { nodeId, route: 'env', limit: 1, except: [] })
  assert.ok(calls[0])
  return calls[0]
}

const gate = (call: ClaimedCall): Promise<GateOutcome> => passGate(test.db, call, endCallAlone)

interface Row {
  readonly status: string
  readonly wait_reason: string | null
  readonly dialing_at: Date | null
  readonly not_before: Date
  readonly lease_token: string | null
  readonly attempt: number
  readonly decisions: { decision: string }[]
}

const read = async ({ callId }: ClaimedCall): Promise<Row> => {
  const [row] = await execute<Row>(test.db, 'select * from calls where id = $1', [callId])
  assert.ok(row)
  return row
}

describe('the progress of a dialled call', () => {
  const dialled = async (): Promise<ClaimedCall> => {
    const call = await claimOne()
    await gate(call)
    return call
  }
  const finish = (call: ClaimedCall, status: 'completed' | 'cancelled') =>
    test.db.transaction((tx) => finishCall(tx, call, { status }))

  it('goes through in_progress to completed, and the first end wins', async () => {
    const call = await dialled()
    assert.equal(await markConnected(test.db, call, new Date()), true)
    assert.equal(await markConnected(test.db, call, new Date()), true, 'safe to repeat')
    assert.equal((await finish(call, 'completed'))?.answerStatus, 'answered')
    assert.equal(await finish(call, 'cancelled'), undefined)
    assert.equal((await read(call)).status, 'completed')
  })

  it('goes back to the queue after congestion, honouring Retry-After, with dialing_at removed', async () => {
    const call = await dialled()
    const congestion = { attempt: 1, reason: 'SIP 503 Service Unavailable', retryAfterMs: 60_000 }
    assert.equal(await requeueCongested(test.db, call, congestion), true)
    const row = await read(call)
    assert.deepEqual(
      [row.status, row.dialing_at, row.lease_token, row.wait_reason, row.attempt],
      ['queued', null, null, 'carrier_congestion', 1],
    )
    const waitMs = row.not_before.getTime() - Date.now()
    assert.ok(waitMs > 55_000 && waitMs <= 60_000)
    await execute(test.db, 'update calls set not_before = now() where id = $1', [call.callId])
    const again = await claimOne()
    assert.equal(again.callId, call.callId)
    assert.equal((await gate(again)).kind, 'dial')
    assert.equal((await read(call)).attempt, 2)
  })

  it('does not wait for a backoff after a cancellation request', async () => {
    const call = await dialled()
    await execute(test.db, 'update calls set cancel_requested_at = now() where id = $1', [
      call.callId,
    ])
    await requeueCongested(test.db, call, { attempt: 1, reason: 'SIP 503', retryAfterMs: 60_000 })
    assert.ok((await read(call)).not_before <= new Date())
  })

  it('keeps the outcome that was certain at its end over a later one from the summary', async () => {
    const call = await dialled()
    await test.db.transaction((tx) =>
      finishCall(tx, call, { status: 'completed', outcome: 'opted_out', answerStatus: 'answered' }),
    )
    const found = { summary: 'They asked not to be called.', outcome: 'achieved' }
    await recordSummary(test.db, call.organizationId, call.callId, found)
    const [row] = await execute(test.db, 'select outcome, summary from calls where id = $1', [
      call.callId,
    ])
    assert.deepEqual(row, { outcome: 'opted_out', summary: found.summary })
  })

  it('keeps the first and the newest of more than fifty decisions', async () => {
    const call = await dialled()
    await execute(
      test.db,
      `update calls set decisions = (select jsonb_agg(jsonb_build_object('at', now(), 'decision', 'n' || n, 'reason', ''))
                                       from generate_series(1, 50) n) where id = $1`,
      [call.callId],
    )
    await requeueUnsent(test.db, call, 'The lease was lost.')
    const { decisions } = await read(call)
    assert.equal(decisions.length, 50)
    assert.deepEqual(
      [decisions[0]?.decision, decisions[1]?.decision, decisions.at(-1)?.decision],
      ['n1', 'n3', 'requeued'],
    )
  })
})
