import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dialCall, endLiveCall, readRun } from '../../../tests/support/automation-fixture.ts'
import {
  createRunRig,
  answered,
  endStep,
  minuteMs,
  dayMs,
} from '../../../tests/support/automation-rig.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { Database } from '../../database/database.ts'
import { addDoNotCall } from '../../domains/organizations/do-not-call.ts'
import { newId } from '../../runtime/ids.ts'
import { maxFaults } from './step-run.ts'

let test: TestDatabase
let db: Database
let rig: ReturnType<typeof createRunRig>

before(async () => {
  test = await createTestDatabase()
  db = test.db
  rig = createRunRig(db)
})
after(() => test.drop())

describe('a run that fails', () => {
  const failure = async (runId: string) => {
    const run = await readRun(db, runId)
    assert.equal(run.status, 'failed')
    assert.ok(run.completed_at)
    assert.equal(run.wake_at, null)
    return run.failure_code
  }

  for (const code of ['retries_exhausted', 'call_failed'] as const) {
    it(`says ${code} where its end does`, async () => {
      const { runId } = await rig.begin(() => ({
        first: endStep({ result: 'failed', failure_code: code }),
      }))
      await rig.turn()
      assert.equal(await failure(runId), code)
    })
  }

  it('reports recipient_blocked before a call is queued, and when the gate refuses it', async () => {
    const first = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await addDoNotCall(db, rig.organization.organizationId, rig.organization.phoneNumber)
    await rig.turn()
    assert.equal(await failure(first.runId), 'recipient_blocked')
    const second = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await rig.turn()
    await addDoNotCall(db, rig.organization.organizationId, rig.organization.phoneNumber)
    const { id: callId } = await rig.lastCall(second.runId)
    const leaseToken = newId()
    await execute(db, 'update calls set lease_token = $2 where id = $1', [callId, leaseToken])
    await endLiveCall(db, rig.organization, callId, leaseToken, {
      status: 'failed',
      answerStatus: 'unknown',
    })
    await rig.turn()
    assert.equal(await failure(second.runId), 'recipient_blocked')
  })

  it('reports contact_unavailable if the contact is gone', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await execute(db, 'delete from contacts where id = $1', [rig.organization.contactId])
    await rig.turn()
    assert.equal(await failure(runId), 'contact_unavailable')
  })

  it('reports agent_unavailable if the agent is archived or unknown', async () => {
    const first = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await execute(db, 'update agents set archived_at = now() where id = $1', [
      rig.organization.agentId,
    ])
    await rig.turn()
    assert.equal(await failure(first.runId), 'agent_unavailable')
    const second = await rig.begin(() => ({
      first: rig.callStep('done', { agent_id: 'nobody' }),
      done: endStep(),
    }))
    await rig.turn()
    assert.equal(await failure(second.runId), 'agent_unavailable')
  })

  it('reports automation_unavailable if its Automation is archived, after its live call', async () => {
    const sleeping = await rig.begin(() => ({
      first: { type: 'wait', for: 'P1D', next: 'done' },
      done: endStep(),
    }))
    await rig.turn()
    await rig.setTo(sleeping.automationId, 'archived')
    await rig.turn()
    assert.equal(await failure(sleeping.runId), 'automation_unavailable')
    const calling = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await rig.turn()
    const { id: callId } = await rig.lastCall(calling.runId)
    const lease = await dialCall(db, callId)
    await rig.setTo(calling.automationId, 'archived')
    await rig.turn()
    assert.equal((await readRun(db, calling.runId)).status, 'running')
    await endLiveCall(db, rig.organization, callId, lease, answered)
    await rig.turn()
    assert.equal(await failure(calling.runId), 'automation_unavailable')
  })

  it('reports definition_invalid if the definition is unreadable, or a step is missing', async () => {
    const unread = await rig.begin(() => ({ first: { type: 'teleport' } }))
    await rig.turn()
    assert.equal(await failure(unread.runId), 'definition_invalid')
    const missing = await rig.begin(() => ({ first: { type: 'wait', for: 'PT1M', next: 'gone' } }))
    await rig.turn()
    rig.time.nowMs += minuteMs
    await rig.turn()
    assert.equal(await failure(missing.runId), 'definition_invalid')
  })

  it('reports step_limit_exceeded after 200 steps', async () => {
    const { runId } = await rig.begin(() => ({
      first: { type: 'wait', for: 'PT1M', next: 'again' },
      again: {
        type: 'branch',
        cases: [{ when: { outcome: ['x'] }, next: 'first' }],
        otherwise: 'first',
      },
    }))
    for (let turns = 0; (await readRun(db, runId)).status !== 'failed' && turns < 300; turns += 1) {
      await rig.turn()
      rig.time.nowMs += minuteMs
    }
    assert.equal(await failure(runId), 'step_limit_exceeded')
    assert.equal((await readRun(db, runId)).steps_executed, 201)
  })

  it('reports run_expired after 90 days, and cancels its queued call', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await rig.turn()
    rig.time.nowMs += 90 * dayMs
    await rig.turn()
    assert.equal(await failure(runId), 'run_expired')
    assert.equal((await rig.lastCall(runId)).status, 'cancelled')
  })

  it('reports internal_error if a fault persists, and cancels its queued call', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await rig.turn()
    await execute(db, `update organizations set policy = '{"time_zone": 7}' where id = $1`, [
      rig.organization.organizationId,
    ])
    await execute(db, 'update automation_runs set wake_at = now() where id = $1', [runId])
    for (let faults = 1; faults <= maxFaults; faults += 1) {
      await rig.turn()
      assert.equal((await readRun(db, runId)).status, faults < maxFaults ? 'running' : 'failed')
      rig.time.nowMs += minuteMs
    }
    assert.equal(await failure(runId), 'internal_error')
    assert.equal((await rig.lastCall(runId)).status, 'cancelled')
  })
})
