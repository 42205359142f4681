import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  callsOf,
  createAutomation,
  movesOf,
  readRun,
  startRun,
} from '../../../tests/support/automation-fixture.ts'
import {
  createRunRig,
  endStep,
  retry,
  startMs,
  minuteMs,
} from '../../../tests/support/automation-rig.ts'
import { startedInTurn } from '../../../tests/support/claim-turns.ts'
import { insertNode, openTrunk } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { Database } from '../../database/database.ts'
import { explainRun } from '../../domains/automations/explain-run.ts'
import { wakeRunsOfCalls } from '../../domains/automations/wake-run.ts'
import { newId } from '../../runtime/ids.ts'
import type { ClaimedCall } from '../claim/claim-calls.ts'
import { passGate } from '../gate.ts'
import { createEndCall } from '../../domains/calls/lifecycle/end-call.ts'
import { endHeld } from '../../domains/calls/lifecycle/end-held-call.ts'

let database: TestDatabase
let db: Database
const nodeId = newId()

before(async () => {
  database = await createTestDatabase()
  db = database.db
  await openTrunk(db)
  await insertNode(db, nodeId)
})
after(() => database.drop())

const endCall = createEndCall([wakeRunsOfCalls])

const dial = async (call: ClaimedCall): Promise<void> => {
  assert.equal((await passGate(db, call, endCall)).kind, 'dial')
}

const endUnanswered = (call: ClaimedCall): Promise<void> =>
  db.transaction(async (tx) => {
    const [ended] = await endCall(
      tx,
      endHeld(call, { status: 'completed', answerStatus: 'no_answer' }),
    )
    assert.ok(ended)
  })

test('a run’s call to a number in use waits, and uses no attempt of its step', async () => {
  const rig = createRunRig(db)
  const steps = () => ({ first: rig.callStep('done', { retry }), done: endStep() })
  const { runId: first } = await rig.begin(steps)
  const { organization } = rig
  const other = await createAutomation(db, organization, { entry: 'first', steps: steps() })
  const second = await startRun(db, organization, other)
  await rig.turn()
  const own = async (runId: string) => (await callsOf(db, runId)).map(({ id }) => id)
  const [held, ...more] = await startedInTurn(db, nodeId)
  assert.ok(held)
  assert.deepEqual(more, [])
  const [live, waiting] = (await own(first)).includes(held.callId)
    ? [first, second]
    : [second, first]
  await dial(held)
  // However long it takes, and however often the run wakes.
  for (let looks = 0; looks < 3; looks += 1) {
    rig.time.nowMs = startMs + looks * minuteMs
    await rig.turn()
    assert.deepEqual(await startedInTurn(db, nodeId), [])
  }
  const run = await readRun(db, waiting)
  assert.deepEqual([run.status, run.attempt, run.steps_executed], ['running', 1, 1])
  const explanation = await explainRun(db, organization.organizationId, waiting)
  assert.deepEqual(
    explanation?.reasons.map(({ code, details }) => [code, details]),
    [['number_in_use', { call_id: held.callId }]],
  )
  await endUnanswered(held)
  const [next] = await startedInTurn(db, nodeId)
  assert.ok(next)
  assert.deepEqual([next.callId], await own(waiting))
  await dial(next)
  await endUnanswered(next)
  await rig.turn()
  for (const runId of [live, waiting]) {
    const { status, attempt, wait_reason: reason } = await readRun(db, runId)
    assert.deepEqual([status, attempt, reason], ['waiting', 1, 'retry_delay'])
    assert.deepEqual(await movesOf(db, runId), ['start', 'call', 'retry_delay'])
    assert.equal((await own(runId)).length, 1)
  }
})
