import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  callsOf,
  dialCall,
  endLiveCall,
  readRun,
} from '../../../tests/support/automation-fixture.ts'
import {
  createRunRig,
  answered,
  unanswered,
  endStep,
  retry,
  minuteMs,
  interrupting,
} from '../../../tests/support/automation-rig.ts'
import { execute, untilBlocked } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { Database } from '../../database/database.ts'

let test: TestDatabase
let db: Database
let rig: ReturnType<typeof createRunRig>

before(async () => {
  test = await createTestDatabase()
  db = test.db
  rig = createRunRig(db)
})
after(() => test.drop())

describe('a pause', () => {
  it('holds runs, and a resume continues them', async () => {
    const { automationId, runId } = await rig.begin(() => ({
      first: rig.callStep(),
      done: endStep(),
    }))
    await rig.setTo(automationId, 'paused')
    await rig.turn()
    const held = await readRun(db, runId)
    assert.deepEqual([held.status, held.wait_reason, held.wake_at], ['queued', 'paused', null])
    assert.equal(await rig.turn(), 0)
    await rig.setTo(automationId, 'active')
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'running')
  })

  it('closes the lane of a queued call, and its run waits until it is resumed', async () => {
    const { automationId, runId } = await rig.begin(() => ({
      first: rig.callStep(),
      done: endStep(),
    }))
    await rig.turn()
    await rig.setTo(automationId, 'paused')
    await rig.turn()
    const lane = () => execute(db, 'select paused from lanes where source_id = $1', [automationId])
    assert.deepEqual(await lane(), [{ paused: true }])
    assert.deepEqual((await readRun(db, runId)).status, 'waiting')
    await rig.setTo(automationId, 'active')
    await rig.turn()
    assert.deepEqual(await lane(), [{ paused: false }])
    assert.deepEqual((await readRun(db, runId)).status, 'running')
    await rig.answer(runId, answered)
    assert.equal((await readRun(db, runId)).status, 'completed')
  })

  it('lets a live call end, and holds what comes after it', async () => {
    const { automationId, runId } = await rig.begin(() => ({
      first: rig.callStep(),
      done: endStep(),
    }))
    await rig.turn()
    const { id: callId } = await rig.lastCall(runId)
    const lease = await dialCall(db, callId)
    await rig.setTo(automationId, 'paused')
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'running')
    await endLiveCall(db, rig.organization, callId, lease, answered)
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'waiting')
    await rig.setTo(automationId, 'active')
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'completed')
  })

  it('that comes while a call is being queued closes that call’s new lane', async () => {
    const { automationId, runId } = await rig.begin(() => ({
      first: rig.callStep(),
      done: endStep(),
    }))
    let pausing: Promise<unknown> | undefined
    // The pause begins when the runner has inserted the call, and must wait for it.
    const slow = interrupting(db, async (statement) => {
      if (
        statement.startsWith('commit-store.storeMove') &&
        (await callsOf(db, runId)).length === 0
      ) {
        const [held] = await execute<{ n: number }>(
          db,
          `select count(*)::integer as n
             from pg_locks
            where relation = 'lanes'::regclass
              and mode = 'RowExclusiveLock'
              and database = (select oid from pg_database where datname = current_database())`,
        )
        if (held && held.n > 0 && !pausing) {
          pausing = rig.setTo(automationId, 'paused')
          await untilBlocked(db)
        }
      }
    })
    await rig.turnOver(slow)()
    assert.ok(pausing, 'the pause never met the move')
    await pausing
    const [call] = await callsOf(db, runId)
    assert.ok(call)
    assert.deepEqual(await execute(db, 'select paused from lanes where id = $1', [call.lane_id]), [
      { paused: true },
    ])
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'waiting')
  })
})

describe('a cancellation', () => {
  it('of a queued run is immediate, and nothing starts', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    const cancelled = await rig.cancel(runId)
    assert.equal(cancelled.status, 'cancelled')
    assert.ok(cancelled.cancelled_at)
    assert.equal(await rig.turn(), 0)
    assert.deepEqual(await callsOf(db, runId), [])
  })

  it('of a waiting run is immediate', async () => {
    const { runId } = await rig.begin(() => ({
      first: { type: 'wait', for: 'P1D', next: 'done' },
      done: endStep(),
    }))
    await rig.turn()
    assert.equal((await rig.cancel(runId)).status, 'cancelled')
  })

  it('cancels the queued call of the run with it', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await rig.turn()
    assert.equal((await rig.cancel(runId)).status, 'cancelled')
    assert.equal((await rig.lastCall(runId)).status, 'cancelled')
  })

  it('lets a live call finish; nothing after starts', async () => {
    const { runId } = await rig.begin(() => ({
      first: rig.callStep('first', { retry }),
      done: endStep(),
    }))
    await rig.turn()
    const { id: callId } = await rig.lastCall(runId)
    const lease = await dialCall(db, callId)
    assert.equal((await rig.cancel(runId)).status, 'running')
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'running')
    await endLiveCall(db, rig.organization, callId, lease, unanswered)
    await rig.turn()
    const run = await readRun(db, runId)
    assert.equal(run.status, 'cancelled')
    assert.ok(run.cancelled_at)
    assert.equal((await rig.lastCall(runId)).status, 'completed')
    assert.equal((await callsOf(db, runId)).length, 1)
  })

  it('cancels the call that a congested carrier sends back to the queue', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await rig.turn()
    const { id: callId } = await rig.lastCall(runId)
    await dialCall(db, callId)
    await rig.cancel(runId)
    await rig.turn()
    await execute(
      db,
      `update calls set status = 'queued', lease_token = null, dialing_at = null where id = $1`,
      [callId],
    )
    rig.time.nowMs += minuteMs
    await rig.turn()
    assert.equal((await rig.lastCall(runId)).status, 'cancelled')
    assert.equal((await readRun(db, runId)).status, 'cancelled')
  })

  it('of a finished run changes nothing', async () => {
    const { runId } = await rig.begin(() => ({ first: endStep() }))
    await rig.turn()
    const before = await readRun(db, runId)
    assert.equal((await rig.cancel(runId)).status, 'completed')
    assert.deepEqual(await readRun(db, runId), before)
  })
})
