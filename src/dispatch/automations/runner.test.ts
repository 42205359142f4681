import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { callsOf, movesOf, readRun, startRun } from '../../../tests/support/automation-fixture.ts'
import {
  createRunRig,
  answered,
  unanswered,
  endStep,
  retry,
  startMs,
  minuteMs,
} from '../../../tests/support/automation-rig.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { Database } from '../../database/database.ts'
import { defaultPolicy, policyToJson } from '../../domains/organizations/calling-policy.ts'

let test: TestDatabase
let db: Database
let rig: ReturnType<typeof createRunRig>

before(async () => {
  test = await createTestDatabase()
  db = test.db
  rig = createRunRig(db)
})
after(() => test.drop())

describe('a run', () => {
  it('goes from queued through running and waiting to completed', async () => {
    const { runId } = await rig.begin(() => ({
      first: rig.callStep('rest', { retry }),
      rest: { type: 'wait', for: 'PT1H', next: 'done' },
      done: endStep(),
    }))
    assert.equal((await readRun(db, runId)).status, 'queued')
    await rig.turn()
    const running = await readRun(db, runId)
    assert.deepEqual([running.status, running.step, running.attempt], ['running', 'first', 1])
    assert.equal(running.started_at?.getTime(), startMs)
    await rig.answer(runId, unanswered)
    const delayed = await readRun(db, runId)
    assert.deepEqual(
      [delayed.status, delayed.wait_reason, delayed.wake_at?.getTime()],
      ['waiting', 'retry_delay', startMs + 30 * minuteMs],
    )
    rig.time.nowMs += 30 * minuteMs
    await rig.turn()
    assert.deepEqual((await readRun(db, runId)).attempt, 2)
    await rig.answer(runId, unanswered)
    const resting = await readRun(db, runId)
    assert.deepEqual(
      [resting.status, resting.step, resting.wait_reason],
      ['waiting', 'rest', 'wait_step'],
    )
    rig.time.nowMs += 60 * minuteMs
    await rig.turn()
    const done = await readRun(db, runId)
    assert.deepEqual([done.status, done.wake_at, done.failure_code], ['completed', null, null])
    assert.equal(done.completed_at?.getTime(), rig.time.nowMs)
    assert.deepEqual(await movesOf(db, runId), [
      'start',
      'call',
      'retry_delay',
      'call',
      'move',
      'wait_step',
      'move',
      'complete',
    ])
    assert.equal((await callsOf(db, runId)).length, 2)
  })

  it('queues its call in the Automation’s lane, with its own origin', async () => {
    for (const origin of ['api', 'cli'] as const) {
      const { automationId, runId } = await rig.begin(
        () => ({ first: rig.callStep(), done: endStep() }),
        {
          origin,
        },
      )
      await rig.turn()
      const [call] = await callsOf(db, runId)
      assert.equal(call?.origin, origin)
      const lanes = await execute(
        db,
        'select kind, source_id, time_zones from lanes where id = $1',
        [call?.lane_id],
      )
      assert.deepEqual(lanes, [
        { kind: 'automation', source_id: automationId, time_zones: 'America/New_York' },
      ])
    }
  })

  it('keeps its version, whatever is published later', async () => {
    const { automationId, runId } = await rig.begin(() => ({
      first: endStep({ result: 'failed' }),
    }))
    await execute(
      db,
      `insert into automation_versions (organization_id, automation_id, version, definition)
       values ($1, $2, 2, '{"entry": "first", "steps": {"first": {"type": "end", "result": "completed"}}}')`,
      [rig.organization.organizationId, automationId],
    )
    await execute(db, 'update automations set published_version = 2 where id = $1', [automationId])
    await rig.turn()
    assert.equal((await readRun(db, runId)).failure_code, 'call_failed')
    const second = await startRun(db, rig.organization, automationId)
    await rig.turn()
    assert.equal((await readRun(db, second)).status, 'completed')
  })

  it('waits for calling hours without a call, and runs when they open', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }), {
      policy: defaultPolicy,
    })
    rig.time.nowMs = Date.parse('2031-03-04T04:00:00Z')
    await rig.turn()
    const waiting = await readRun(db, runId)
    assert.deepEqual([waiting.status, waiting.wait_reason], ['waiting', 'calling_hours'])
    assert.equal(waiting.wake_at?.toISOString(), '2031-03-04T13:00:00.000Z')
    assert.deepEqual(await callsOf(db, runId), [])
    rig.time.nowMs = Date.parse('2031-03-04T13:00:00Z')
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'running')
    assert.equal((await callsOf(db, runId)).length, 1)
  })

  it('wakes when an edit of the policy opens the hours it waits for', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }), {
      policy: defaultPolicy,
    })
    rig.time.nowMs = Date.parse('2031-03-04T04:00:00Z')
    await rig.turn()
    const open = policyToJson({ ...defaultPolicy, windows: [{ ...windowOf(), endTime: '24:00' }] })
    await execute(db, 'update organizations set policy = $2 where id = $1', [
      rig.organization.organizationId,
      JSON.stringify(open),
    ])
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'running')
  })

  const windowOf = () => defaultPolicy.windows[0] ?? assert.fail('the default policy has a window')

  it('waits while hours close on its queued call, and runs when they open again', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }), {
      policy: defaultPolicy,
    })
    await rig.turn()
    assert.equal((await readRun(db, runId)).wake_at?.toISOString(), '2031-03-04T02:00:00.000Z')
    rig.time.nowMs = Date.parse('2031-03-04T02:00:00Z')
    await rig.turn()
    const closed = await readRun(db, runId)
    assert.deepEqual([closed.status, closed.wait_reason], ['waiting', 'calling_hours'])
    rig.time.nowMs = Date.parse('2031-03-04T13:00:00Z')
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'running')
    assert.equal((await callsOf(db, runId)).length, 1)
    await rig.answer(runId, answered)
    assert.equal((await readRun(db, runId)).status, 'completed')
  })

  it('waits with its queued call after an edit of the policy has closed the hours', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'running')
    await execute(db, 'update organizations set policy = $2 where id = $1', [
      rig.organization.organizationId,
      JSON.stringify(
        policyToJson({ ...defaultPolicy, windows: [{ ...windowOf(), startTime: '18:00' }] }),
      ),
    ])
    await rig.turn()
    const waiting = await readRun(db, runId)
    assert.deepEqual([waiting.status, waiting.wait_reason], ['waiting', 'calling_hours'])
  })

  it('waits for the outcome while its call’s summary is being made', async () => {
    const { runId } = await rig.begin(() => ({
      first: rig.callStep('branch'),
      branch: {
        type: 'branch',
        cases: [{ when: { outcome: ['achieved'] }, next: 'done' }],
        otherwise: 'missed',
      },
      missed: endStep({ result: 'failed' }),
      done: endStep(),
    }))
    await rig.turn()
    const { id: callId } = await rig.lastCall(runId)
    await execute(
      db,
      `insert into results (organization_id, call_id, kind, status, reason)
       values ($1, $2, 'summary', 'processing', 'generating')`,
      [rig.organization.organizationId, callId],
    )
    await rig.answer(runId, { status: 'completed', answerStatus: 'answered' })
    assert.equal((await readRun(db, runId)).status, 'running')
    await execute(db, `update calls set outcome = 'achieved' where id = $1`, [callId])
    rig.time.nowMs += minuteMs
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'completed')
  })
})
