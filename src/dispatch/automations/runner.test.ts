import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  callsOf,
  createAutomation,
  dialCall,
  endCall,
  endLiveCall,
  movesOf,
  readRun,
  startRun,
  wakeRun,
} from '../../../tests/support/automation-fixture.ts'
import {
  createCallingOrganization,
  execute,
  untilBlocked,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { latestVersion } from '../../contract/versions.ts'
import type { Database } from '../../database/database.ts'
import { createCancelAutomationRun } from '../../domains/automations/cancel-automation-run.ts'
import { setAutomationStatus } from '../../domains/automations/set-automation-status.ts'
import { addDoNotCall } from '../../domains/organizations/do-not-call.ts'
import { defaultPolicy, policyToJson } from '../../domains/organizations/calling-policy.ts'
import { newId } from '../../runtime/ids.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { createRunnerTurn } from './runner.ts'
import { maxFaults } from './step-run.ts'

let test: TestDatabase
let db: Database
let organization: CallingOrganization
/** Virtual time: far ahead of the database's clock, whose `now()` is what hooks wake runs with. */
let nowMs = 0

before(async () => {
  test = await createTestDatabase()
  db = test.db
})
after(() => test.drop())

const startMs = Date.parse('2031-03-03T17:00:00Z')
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

const turnOver = (database: Database): (() => Promise<number>) =>
  createRunnerTurn({
    database,
    onCallEnded: wakeRun,
    logger: silentLogger,
    now: () => new Date(nowMs),
  })

const turn = (): Promise<number> => turnOver(db)()

const end = (more: object = {}) => ({ type: 'end', result: 'completed', ...more })
const callStep = (next = 'done', more: object = {}) => ({
  type: 'call',
  agent_id: organization.agentId,
  next,
  ...more,
})
const retry = { max_attempts: 2, delays: ['PT30M'], on: ['no_answer'] }

/** A fresh organization with one run, and the time turned back. */
const begin = async (
  steps: () => object,
  { policy, origin }: { policy?: typeof defaultPolicy; origin?: 'api' | 'cli' } = {},
) => {
  organization = await createCallingOrganization(db, {
    phoneNumber: '+12125550100',
    ...(policy && { policy }),
  })
  const definition = { entry: 'first', steps: steps() }
  const automationId = await createAutomation(db, organization, definition)
  const runId = await startRun(db, organization, automationId, origin)
  nowMs = startMs
  return { automationId, runId }
}

const answered = { status: 'completed', answerStatus: 'answered', outcome: 'achieved' } as const
const unanswered = { status: 'completed', answerStatus: 'no_answer' } as const

const lastCall = async (runId: string) => {
  const call = (await callsOf(db, runId)).at(-1)
  assert.ok(call, 'the run has no call')
  return call
}

/** The run's call ends, and the run goes on. */
const answer = async (runId: string, how: Parameters<typeof endCall>[3]): Promise<void> => {
  await endCall(db, organization, (await lastCall(runId)).id, how)
  await turn()
}

const cancel = (runId: string) =>
  db.transaction((tx) =>
    createCancelAutomationRun(() => {}, wakeRun)(
      { params: { run_id: runId }, query: {}, body: {} },
      {
        db: tx,
        organizationId: organization.organizationId,
        apiKeyId: newId(),
        requestId: 'r',
        version: latestVersion,
      },
    ),
  )

const setTo = (automationId: string, status: 'active' | 'paused' | 'archived') =>
  db.transaction((tx) => setAutomationStatus(tx, () => {}, automationId, status))

describe('a run', () => {
  it('goes from queued by running and waiting to completed', async () => {
    const { runId } = await begin(() => ({
      first: callStep('rest', { retry }),
      rest: { type: 'wait', for: 'PT1H', next: 'done' },
      done: end(),
    }))
    assert.equal((await readRun(db, runId)).status, 'queued')
    await turn()
    const running = await readRun(db, runId)
    assert.deepEqual([running.status, running.step, running.attempt], ['running', 'first', 1])
    assert.equal(running.started_at?.getTime(), startMs)
    await answer(runId, unanswered)
    const delayed = await readRun(db, runId)
    assert.deepEqual(
      [delayed.status, delayed.wait_reason, delayed.wake_at?.getTime()],
      ['waiting', 'retry_delay', startMs + 30 * minuteMs],
    )
    nowMs += 30 * minuteMs
    await turn()
    assert.deepEqual((await readRun(db, runId)).attempt, 2)
    await answer(runId, unanswered)
    const resting = await readRun(db, runId)
    assert.deepEqual(
      [resting.status, resting.step, resting.wait_reason],
      ['waiting', 'rest', 'wait_step'],
    )
    nowMs += 60 * minuteMs
    await turn()
    const done = await readRun(db, runId)
    assert.deepEqual([done.status, done.wake_at, done.failure_code], ['completed', null, null])
    assert.equal(done.completed_at?.getTime(), nowMs)
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

  it('queues its call in the Automation’s lane, of its own origin', async () => {
    for (const origin of ['api', 'cli'] as const) {
      const { automationId, runId } = await begin(() => ({ first: callStep(), done: end() }), {
        origin,
      })
      await turn()
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

  it('pins its version, whatever is published later', async () => {
    const { automationId, runId } = await begin(() => ({ first: end({ result: 'failed' }) }))
    await execute(
      db,
      `insert into automation_versions (organization_id, automation_id, version, definition)
       values ($1, $2, 2, '{"entry": "first", "steps": {"first": {"type": "end", "result": "completed"}}}')`,
      [organization.organizationId, automationId],
    )
    await execute(db, 'update automations set published_version = 2 where id = $1', [automationId])
    await turn()
    assert.equal((await readRun(db, runId)).failure_code, 'call_failed')
    const second = await startRun(db, organization, automationId)
    await turn()
    assert.equal((await readRun(db, second)).status, 'completed')
  })

  it('waits for calling hours without a call, and runs when they open', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }), {
      policy: defaultPolicy,
    })
    nowMs = Date.parse('2031-03-04T04:00:00Z')
    await turn()
    const waiting = await readRun(db, runId)
    assert.deepEqual([waiting.status, waiting.wait_reason], ['waiting', 'calling_hours'])
    assert.equal(waiting.wake_at?.toISOString(), '2031-03-04T13:00:00.000Z')
    assert.deepEqual(await callsOf(db, runId), [])
    nowMs = Date.parse('2031-03-04T13:00:00Z')
    await turn()
    assert.equal((await readRun(db, runId)).status, 'running')
    assert.equal((await callsOf(db, runId)).length, 1)
  })

  it('looks again when the policy opens the hours it waits for', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }), {
      policy: defaultPolicy,
    })
    nowMs = Date.parse('2031-03-04T04:00:00Z')
    await turn()
    const open = policyToJson({ ...defaultPolicy, windows: [{ ...windowOf(), endTime: '24:00' }] })
    await execute(db, 'update organizations set policy = $2 where id = $1', [
      organization.organizationId,
      JSON.stringify(open),
    ])
    await turn()
    assert.equal((await readRun(db, runId)).status, 'running')
  })

  const windowOf = () => defaultPolicy.windows[0] ?? assert.fail('the default policy has a window')

  it('waits while hours close on its queued call, and runs when they open again', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }), {
      policy: defaultPolicy,
    })
    await turn()
    assert.equal((await readRun(db, runId)).wake_at?.toISOString(), '2031-03-04T02:00:00.000Z')
    nowMs = Date.parse('2031-03-04T02:00:00Z')
    await turn()
    const closed = await readRun(db, runId)
    assert.deepEqual([closed.status, closed.wait_reason], ['waiting', 'calling_hours'])
    nowMs = Date.parse('2031-03-04T13:00:00Z')
    await turn()
    assert.equal((await readRun(db, runId)).status, 'running')
    assert.equal((await callsOf(db, runId)).length, 1)
    await answer(runId, answered)
    assert.equal((await readRun(db, runId)).status, 'completed')
  })

  it('waits for the outcome while its call’s summary is made', async () => {
    const { runId } = await begin(() => ({
      first: callStep('branch'),
      branch: {
        type: 'branch',
        cases: [{ when: { outcome: ['achieved'] }, next: 'done' }],
        otherwise: 'missed',
      },
      missed: end({ result: 'failed' }),
      done: end(),
    }))
    await turn()
    const { id: callId } = await lastCall(runId)
    await execute(
      db,
      `insert into results (organization_id, call_id, kind, status, reason)
       values ($1, $2, 'summary', 'processing', 'generating')`,
      [organization.organizationId, callId],
    )
    await answer(runId, { status: 'completed', answerStatus: 'answered' })
    assert.equal((await readRun(db, runId)).status, 'running')
    await execute(db, `update calls set outcome = 'achieved' where id = $1`, [callId])
    nowMs += minuteMs
    await turn()
    assert.equal((await readRun(db, runId)).status, 'completed')
  })
})

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
      const { runId } = await begin(() => ({
        first: end({ result: 'failed', failure_code: code }),
      }))
      await turn()
      assert.equal(await failure(runId), code)
    })
  }

  it('says recipient_blocked before a call is queued, and when the gate refuses it', async () => {
    const first = await begin(() => ({ first: callStep(), done: end() }))
    await addDoNotCall(db, organization.organizationId, organization.phoneNumber)
    await turn()
    assert.equal(await failure(first.runId), 'recipient_blocked')
    const second = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    await addDoNotCall(db, organization.organizationId, organization.phoneNumber)
    const { id: callId } = await lastCall(second.runId)
    const leaseToken = newId()
    await execute(db, 'update calls set lease_token = $2 where id = $1', [callId, leaseToken])
    await endLiveCall(db, organization, callId, leaseToken, {
      status: 'failed',
      answerStatus: 'unknown',
    })
    await turn()
    assert.equal(await failure(second.runId), 'recipient_blocked')
  })

  it('says contact_unavailable where the contact is gone', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    await execute(db, 'delete from contacts where id = $1', [organization.contactId])
    await turn()
    assert.equal(await failure(runId), 'contact_unavailable')
  })

  it('says agent_unavailable where the agent is archived, or is none', async () => {
    const first = await begin(() => ({ first: callStep(), done: end() }))
    await execute(db, 'update agents set archived_at = now() where id = $1', [organization.agentId])
    await turn()
    assert.equal(await failure(first.runId), 'agent_unavailable')
    const second = await begin(() => ({
      first: callStep('done', { agent_id: 'nobody' }),
      done: end(),
    }))
    await turn()
    assert.equal(await failure(second.runId), 'agent_unavailable')
  })

  it('says automation_unavailable where its Automation is archived, after its live call', async () => {
    const sleeping = await begin(() => ({
      first: { type: 'wait', for: 'P1D', next: 'done' },
      done: end(),
    }))
    await turn()
    await setTo(sleeping.automationId, 'archived')
    await turn()
    assert.equal(await failure(sleeping.runId), 'automation_unavailable')
    const calling = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    const { id: callId } = await lastCall(calling.runId)
    const lease = await dialCall(db, callId)
    await setTo(calling.automationId, 'archived')
    await turn()
    assert.equal((await readRun(db, calling.runId)).status, 'running')
    await endLiveCall(db, organization, callId, lease, answered)
    await turn()
    assert.equal(await failure(calling.runId), 'automation_unavailable')
  })

  it('says definition_invalid where nothing can be read, or a step is missing', async () => {
    const unread = await begin(() => ({ first: { type: 'teleport' } }))
    await turn()
    assert.equal(await failure(unread.runId), 'definition_invalid')
    const missing = await begin(() => ({ first: { type: 'wait', for: 'PT1M', next: 'gone' } }))
    await turn()
    nowMs += minuteMs
    await turn()
    assert.equal(await failure(missing.runId), 'definition_invalid')
  })

  it('says step_limit_exceeded after 200 steps', async () => {
    const { runId } = await begin(() => ({
      first: { type: 'wait', for: 'PT1M', next: 'again' },
      again: {
        type: 'branch',
        cases: [{ when: { outcome: ['x'] }, next: 'first' }],
        otherwise: 'first',
      },
    }))
    for (let turns = 0; (await readRun(db, runId)).status !== 'failed' && turns < 300; turns += 1) {
      await turn()
      nowMs += minuteMs
    }
    assert.equal(await failure(runId), 'step_limit_exceeded')
    assert.equal((await readRun(db, runId)).steps_executed, 201)
  })

  it('says run_expired after 90 days, and cancels its queued call', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    nowMs += 90 * dayMs
    await turn()
    assert.equal(await failure(runId), 'run_expired')
    assert.equal((await lastCall(runId)).status, 'cancelled')
  })

  it('says internal_error where a fault stays, and cancels its queued call', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    await execute(db, `update organizations set policy = '{"time_zone": 7}' where id = $1`, [
      organization.organizationId,
    ])
    await execute(db, 'update automation_runs set wake_at = now() where id = $1', [runId])
    for (let faults = 1; faults <= maxFaults; faults += 1) {
      await turn()
      assert.equal((await readRun(db, runId)).status, faults < maxFaults ? 'running' : 'failed')
      nowMs += minuteMs
    }
    assert.equal(await failure(runId), 'internal_error')
    assert.equal((await lastCall(runId)).status, 'cancelled')
  })
})

describe('a pause', () => {
  it('holds runs, and a resume lets them go on', async () => {
    const { automationId, runId } = await begin(() => ({ first: callStep(), done: end() }))
    await setTo(automationId, 'paused')
    await turn()
    const held = await readRun(db, runId)
    assert.deepEqual([held.status, held.wait_reason, held.wake_at], ['queued', 'paused', null])
    assert.equal(await turn(), 0)
    await setTo(automationId, 'active')
    await turn()
    assert.equal((await readRun(db, runId)).status, 'running')
  })

  it('closes the lane of a queued call, and its run waits until it is resumed', async () => {
    const { automationId, runId } = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    await setTo(automationId, 'paused')
    await turn()
    const lane = () => execute(db, 'select paused from lanes where source_id = $1', [automationId])
    assert.deepEqual(await lane(), [{ paused: true }])
    assert.deepEqual((await readRun(db, runId)).status, 'waiting')
    await setTo(automationId, 'active')
    await turn()
    assert.deepEqual(await lane(), [{ paused: false }])
    assert.deepEqual((await readRun(db, runId)).status, 'running')
    await answer(runId, answered)
    assert.equal((await readRun(db, runId)).status, 'completed')
  })

  it('lets a live call end, and holds what comes after it', async () => {
    const { automationId, runId } = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    const { id: callId } = await lastCall(runId)
    const lease = await dialCall(db, callId)
    await setTo(automationId, 'paused')
    await turn()
    assert.equal((await readRun(db, runId)).status, 'running')
    await endLiveCall(db, organization, callId, lease, answered)
    await turn()
    assert.equal((await readRun(db, runId)).status, 'waiting')
    await setTo(automationId, 'active')
    await turn()
    assert.equal((await readRun(db, runId)).status, 'completed')
  })

  it('that comes while a call is being queued closes that call’s new lane', async () => {
    const { automationId, runId } = await begin(() => ({ first: callStep(), done: end() }))
    let pausing: Promise<unknown> | undefined
    // The pause begins when the runner has inserted the call, and has to wait for it.
    const slow = interrupting(db, async (statement) => {
      if (
        statement.startsWith('commit-store.storeMove') &&
        (await callsOf(db, runId)).length === 0
      ) {
        const [held] = await execute<{ n: number }>(
          db,
          `select count(*)::integer as n from pg_locks where relation = 'lanes'::regclass and mode = 'RowExclusiveLock'`,
        )
        if (held && held.n > 0 && !pausing) {
          pausing = setTo(automationId, 'paused')
          await untilBlocked(db)
        }
      }
    })
    await turnOver(slow)()
    assert.ok(pausing, 'the pause never met the move')
    await pausing
    const [call] = await callsOf(db, runId)
    assert.ok(call)
    assert.deepEqual(await execute(db, 'select paused from lanes where id = $1', [call.lane_id]), [
      { paused: true },
    ])
    await turn()
    assert.equal((await readRun(db, runId)).status, 'waiting')
  })
})

/** A database that does something before each statement of its transactions. */
const interrupting = (
  database: Database,
  before: (statement: string, position: number, kill: () => Promise<void>) => Promise<void>,
): Database => ({
  ...database,
  transaction: (work) =>
    database.transaction((tx) => {
      let position = 0
      const kill = async (): Promise<void> => {
        const [backend] = await execute<{ pid: number }>(tx, 'select pg_backend_pid() as pid')
        await execute(database, 'select pg_terminate_backend($1)', [backend?.pid])
      }
      const meet = async (name: string): Promise<void> => before(name, (position += 1), kill)
      return work({
        ...tx,
        rows: async (statement, values) => (await meet(statement.name), tx.rows(statement, values)),
        row: async (statement, values) => (await meet(statement.name), tx.row(statement, values)),
        run: async (statement, values) => (await meet(statement.name), tx.run(statement, values)),
      }).then(async (result) => {
        await meet('end')
        return result
      })
    }),
})

describe('a crash', () => {
  /** Statements of the longest move: the Automation's status, the lane, the call, the run, and the end. */
  const mostStatements = 5

  for (const way of ['a fault', 'a killed connection'] as const) {
    it(`by ${way} between any two statements of any move repeats nothing and skips nothing`, async () => {
      let crashes = 0
      for (let at = 1; at <= mostStatements; at += 1) {
        const { runId } = await begin(() => ({
          first: callStep('rest', { retry }),
          rest: { type: 'wait', for: 'PT1H', next: 'done' },
          done: end(),
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
        const crashingTurn = turnOver(crashing)
        for (let turns = 0; turns < 60; turns += 1) {
          await crashingTurn().catch(() => undefined)
          const run = await readRun(db, runId)
          if (run.status === 'completed') break
          const call = (await callsOf(db, runId)).at(-1)
          if (call?.status === 'queued') await endCall(db, organization, call.id, unanswered)
          // Past leases, delays and waits alike.
          nowMs += 61 * minuteMs
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
    const { automationId } = await begin(() => ({ first: callStep(), done: end() }))
    const others: string[] = []
    for (let contact = 0; contact < 40; contact += 1) {
      const contactId = newId()
      await execute(
        db,
        `insert into contacts (organization_id, id, source, name, phone_number) values ($1, $2, 'x', 'x', $3)`,
        [organization.organizationId, contactId, `+1212555${1000 + contact}`],
      )
      others.push(await startRun(db, { ...organization, contactId }, automationId))
    }
    // Everything is due for both, as if the other's leases were over.
    const greedy = interrupting(db, async () => {})
    const blind: Database = {
      ...greedy,
      rows: async (statement, values) =>
        statement.name === 'claim-runs.claimDueRuns'
          ? execute(
              db,
              `select organization_id, id from automation_runs where wake_at is not null and organization_id = $1`,
              [organization.organizationId],
            )
          : greedy.rows(statement, values),
    }
    await Promise.all([turnOver(blind)(), turnOver(blind)(), turnOver(blind)()])
    for (const runId of others) {
      assert.equal((await callsOf(db, runId)).length, 1)
      assert.deepEqual(await movesOf(db, runId), ['start', 'call'])
    }
  })

  it('of the end of a call and a runner that has just seen it live is not slept over', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    const { id: callId } = await lastCall(runId)
    const lease = await dialCall(db, callId)
    await execute(db, 'update automation_runs set wake_at = now() where id = $1', [runId])
    let hasEnded = false
    const racing = interrupting(db, async (statement) => {
      if (statement !== 'commit-store.storeLook' || hasEnded) return
      hasEnded = true
      await endLiveCall(db, organization, callId, lease, answered)
    })
    await turnOver(racing)()
    assert.ok(hasEnded)
    assert.equal((await readRun(db, runId)).status, 'completed')
  })

  it('of a cancellation and a runner that is queueing a call leaves no queued call', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    let cancelling: Promise<{ status: string }> | undefined
    const racing = interrupting(db, async (statement) => {
      if (statement !== 'end' || cancelling || (await readRun(db, runId)).sequence !== 1) return
      // The runner holds the run: the cancellation waits for it, and finds it moved on.
      cancelling = cancel(runId)
      await untilBlocked(db)
    })
    await turnOver(racing)()
    assert.equal((await cancelling)?.status, 'cancelled')
    const [call] = await callsOf(db, runId)
    assert.equal(call?.status, 'cancelled')
    assert.equal((await readRun(db, runId)).status, 'cancelled')
  })

  it('of a cancellation that comes first undoes the call being queued', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    let isCancelled = false
    const racing = interrupting(db, async (statement) => {
      if (isCancelled || statement !== 'call-store.insertCall') return
      isCancelled = true
      assert.equal((await cancel(runId)).status, 'cancelled')
    })
    await turnOver(racing)()
    assert.ok(isCancelled)
    assert.deepEqual(await callsOf(db, runId), [])
    assert.equal((await readRun(db, runId)).status, 'cancelled')
  })

  it('of a cancellation and the end of the live call ends with either, once', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    const { id: callId } = await lastCall(runId)
    const lease = await dialCall(db, callId)
    const [asked] = await Promise.all([
      cancel(runId),
      endLiveCall(db, organization, callId, lease, answered),
    ])
    assert.ok(['running', 'cancelled'].includes(asked.status))
    await turn()
    assert.equal((await readRun(db, runId)).status, 'cancelled')
    assert.equal((await lastCall(runId)).status, 'completed')
  })
})

describe('a cancellation', () => {
  it('of a queued run is immediate, and nothing starts', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    const cancelled = await cancel(runId)
    assert.equal(cancelled.status, 'cancelled')
    assert.ok(cancelled.cancelled_at)
    assert.equal(await turn(), 0)
    assert.deepEqual(await callsOf(db, runId), [])
  })

  it('of a waiting run is immediate', async () => {
    const { runId } = await begin(() => ({
      first: { type: 'wait', for: 'P1D', next: 'done' },
      done: end(),
    }))
    await turn()
    assert.equal((await cancel(runId)).status, 'cancelled')
  })

  it('cancels the queued call of the run with it', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    assert.equal((await cancel(runId)).status, 'cancelled')
    assert.equal((await lastCall(runId)).status, 'cancelled')
  })

  it('lets a live call finish; nothing after starts', async () => {
    const { runId } = await begin(() => ({ first: callStep('first', { retry }), done: end() }))
    await turn()
    const { id: callId } = await lastCall(runId)
    const lease = await dialCall(db, callId)
    assert.equal((await cancel(runId)).status, 'running')
    await turn()
    assert.equal((await readRun(db, runId)).status, 'running')
    await endLiveCall(db, organization, callId, lease, unanswered)
    await turn()
    const run = await readRun(db, runId)
    assert.equal(run.status, 'cancelled')
    assert.ok(run.cancelled_at)
    assert.equal((await lastCall(runId)).status, 'completed')
    assert.equal((await callsOf(db, runId)).length, 1)
  })

  it('cancels the call that a congested carrier sends back to the queue', async () => {
    const { runId } = await begin(() => ({ first: callStep(), done: end() }))
    await turn()
    const { id: callId } = await lastCall(runId)
    await dialCall(db, callId)
    await cancel(runId)
    await turn()
    await execute(
      db,
      `update calls set status = 'queued', lease_token = null, dialing_at = null where id = $1`,
      [callId],
    )
    nowMs += minuteMs
    await turn()
    assert.equal((await lastCall(runId)).status, 'cancelled')
    assert.equal((await readRun(db, runId)).status, 'cancelled')
  })

  it('of a finished run changes nothing', async () => {
    const { runId } = await begin(() => ({ first: end() }))
    await turn()
    const before = await readRun(db, runId)
    assert.equal((await cancel(runId)).status, 'completed')
    assert.deepEqual(await readRun(db, runId), before)
  })
})
