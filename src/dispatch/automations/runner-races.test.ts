import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  callsOf,
  dialCall,
  endCall,
  endLiveCall,
  movesOf,
  readRun,
  startRun,
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
import {
  defaultPolicy,
  policyToJson,
  sandboxPolicy,
} from '../../domains/organizations/calling-policy.ts'
import { newId } from '../../runtime/ids.ts'

let test: TestDatabase
let db: Database
let rig: ReturnType<typeof createRunRig>

before(async () => {
  test = await createTestDatabase()
  db = test.db
  rig = createRunRig(db)
})
after(() => test.drop())

describe('a crash', () => {
  /** Statements of the longest move: the Automation's status, the lane, the call, the run, and the end. */
  const mostStatements = 5

  for (const way of ['a fault', 'a killed connection'] as const) {
    it(`by ${way} between any two statements of any move repeats nothing and skips nothing`, async () => {
      let crashes = 0
      for (let at = 1; at <= mostStatements; at += 1) {
        const { runId } = await rig.begin(() => ({
          first: rig.callStep('rest', { retry }),
          rest: { type: 'wait', for: 'PT1H', next: 'done' },
          done: endStep(),
        }))
        const seen = new Set<number>()
        const crashing = interrupting(db, async (_, position, kill) => {
          const { sequence } = await readRun(db, runId)
          if (position !== at || seen.has(sequence)) return
          seen.add(sequence)
          crashes += 1
          if (way === 'a fault') throw new Error('crashed')
          await kill()
        })
        const crashingTurn = rig.turnOver(crashing)
        for (let turns = 0; turns < 60; turns += 1) {
          await crashingTurn().catch(() => undefined)
          const run = await readRun(db, runId)
          if (run.status === 'completed') break
          const call = (await callsOf(db, runId)).at(-1)
          if (call?.status === 'queued') await endCall(db, rig.organization, call.id, unanswered)
          // Past leases, delays and waits alike.
          rig.time.nowMs += 61 * minuteMs
        }
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
      }
      assert.ok(crashes >= 16, `only ${crashes} crashes`)
    })
  }
})

describe('a race', () => {
  it('of two runners over the same runs queues each call once', async () => {
    const { automationId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    const others: string[] = []
    for (let contact = 0; contact < 40; contact += 1) {
      const contactId = newId()
      await execute(
        db,
        `insert into contacts (organization_id, id, source, name, phone_number) values ($1, $2, 'x', 'x', $3)`,
        [rig.organization.organizationId, contactId, `+1212555${1000 + contact}`],
      )
      others.push(await startRun(db, { ...rig.organization, contactId }, automationId))
    }
    // Everything is due for both, as if the other's leases had expired.
    const greedy = interrupting(db, async () => {})
    const blind: Database = {
      ...greedy,
      rows: async (statement, values) =>
        statement.name === 'claim-runs.claimDueRuns'
          ? execute(
              db,
              `select organization_id, id from automation_runs where wake_at is not null and organization_id = $1`,
              [rig.organization.organizationId],
            )
          : greedy.rows(statement, values),
    }
    await Promise.all([rig.turnOver(blind)(), rig.turnOver(blind)(), rig.turnOver(blind)()])
    for (const runId of others) {
      assert.equal((await callsOf(db, runId)).length, 1)
      assert.deepEqual(await movesOf(db, runId), ['start', 'call'])
    }
  })

  it('of the end of a call and a runner that has just seen it live loses no wake-up', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await rig.turn()
    const { id: callId } = await rig.lastCall(runId)
    const lease = await dialCall(db, callId)
    await execute(db, 'update automation_runs set wake_at = now() where id = $1', [runId])
    let hasEnded = false
    const racing = interrupting(db, async (statement) => {
      if (statement !== 'commit-store.storeLook' || hasEnded) return
      hasEnded = true
      await endLiveCall(db, rig.organization, callId, lease, answered)
    })
    await rig.turnOver(racing)()
    assert.ok(hasEnded)
    assert.equal((await readRun(db, runId)).status, 'completed')
  })

  it('of an edit of the policy and a runner that has just found it closed loses no wake-up', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }), {
      policy: defaultPolicy,
    })
    rig.time.nowMs = Date.parse('2031-03-04T04:00:00Z')
    let isEdited = false
    const racing = interrupting(db, async (statement) => {
      if (isEdited || statement !== 'commit-store.holdPolicy') return
      isEdited = true
      await execute(db, 'update organizations set policy = $2 where id = $1', [
        rig.organization.organizationId,
        JSON.stringify(policyToJson(sandboxPolicy)),
      ])
    })
    await rig.turnOver(racing)()
    assert.ok(isEdited)
    assert.equal((await readRun(db, runId)).status, 'running')
    assert.equal((await callsOf(db, runId)).length, 1)
  })

  it('of a cancellation and a runner that is queueing a call leaves no queued call', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    let cancelling: Promise<{ status: string }> | undefined
    const racing = interrupting(db, async (statement) => {
      if (statement !== 'end' || cancelling || (await readRun(db, runId)).sequence !== 1) return
      // The runner holds the run: the cancellation waits for it, and finds it moved on.
      cancelling = rig.cancel(runId)
      await untilBlocked(db)
    })
    await rig.turnOver(racing)()
    assert.equal((await cancelling)?.status, 'cancelled')
    const [call] = await callsOf(db, runId)
    assert.equal(call?.status, 'cancelled')
    assert.equal((await readRun(db, runId)).status, 'cancelled')
  })

  it('of a cancellation that comes first undoes the call being queued', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    let isCancelled = false
    const racing = interrupting(db, async (statement) => {
      if (isCancelled || statement !== 'insert-call.insertCall') return
      isCancelled = true
      assert.equal((await rig.cancel(runId)).status, 'cancelled')
    })
    await rig.turnOver(racing)()
    assert.ok(isCancelled)
    assert.deepEqual(await callsOf(db, runId), [])
    assert.equal((await readRun(db, runId)).status, 'cancelled')
  })

  it('of a cancellation and the end of the live call ends the run once, either way', async () => {
    const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
    await rig.turn()
    const { id: callId } = await rig.lastCall(runId)
    const lease = await dialCall(db, callId)
    const [asked] = await Promise.all([
      rig.cancel(runId),
      endLiveCall(db, rig.organization, callId, lease, answered),
    ])
    assert.ok(['running', 'cancelled'].includes(asked.status))
    await rig.turn()
    assert.equal((await readRun(db, runId)).status, 'cancelled')
    assert.equal((await rig.lastCall(runId)).status, 'completed')
  })
})
