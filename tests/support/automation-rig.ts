import assert from 'node:assert/strict'
import { latestVersion } from '../../src/contract/versions.ts'
import type { Database } from '../../src/database/database.ts'
import { createRunnerTurn } from '../../src/dispatch/automations/runner.ts'
import { cancelAutomationRun } from '../../src/domains/automations/cancel-automation-run.ts'
import { setAutomationStatus } from '../../src/domains/automations/set-automation-status.ts'
import { wakeRunsOfCalls } from '../../src/domains/automations/wake-run.ts'
import type { CallingPolicy } from '../../src/domains/organizations/calling-policy.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import {
  callsOf,
  createAutomation,
  endCall,
  startRun,
  type CallEnd,
  type StoredCall,
} from './automation-fixture.ts'
import { somePrincipal, someVisit } from './organization-fixture.ts'
import { createCallingOrganization, execute, type CallingOrganization } from './queue-fixtures.ts'
import { createEndCall } from '../../src/domains/calls/lifecycle/end-call.ts'

/** Far ahead of the database's clock, whose `now()` hooks use to wake runs. */
export const startMs = Date.parse('2031-03-03T17:00:00Z')
export const minuteMs = 60_000
export const dayMs = 24 * 60 * minuteMs

export const answered = {
  status: 'completed',
  answerStatus: 'answered',
  outcome: 'achieved',
} as const
export const unanswered = { status: 'completed', answerStatus: 'no_answer' } as const

export const endStep = (more: object = {}) => ({ type: 'end', result: 'completed', ...more })
export const retry = { max_attempts: 2, delays: ['PT30M'], on: ['no_answer'] }

/** Steps one run at a time by hand over a database, with a manual clock. */
export const createRunRig = (db: Database) => {
  let organization: CallingOrganization | undefined
  const time = { nowMs: startMs }

  const current = (): CallingOrganization => organization ?? assert.fail('nothing has begun')

  const turnOver = (database: Database): (() => Promise<number>) =>
    createRunnerTurn({
      database,
      endCall: createEndCall([wakeRunsOfCalls]),
      logger: silentLogger,
      now: () => new Date(time.nowMs),
    })

  const turn = (): Promise<number> => turnOver(db)()

  const lastCall = async (runId: string): Promise<StoredCall> =>
    (await callsOf(db, runId)).at(-1) ?? assert.fail('the run has no call')

  return {
    time,
    turn,
    turnOver,
    lastCall,
    get organization() {
      return current()
    },
    callStep: (next = 'done', more: object = {}) => ({
      type: 'call',
      agent_id: current().agentId,
      next,
      ...more,
    }),
    /** A new organization with one run, and the clock reset. */
    async begin(
      steps: () => object,
      { policy, origin }: { policy?: CallingPolicy; origin?: 'api' | 'cli' } = {},
    ) {
      organization = await createCallingOrganization(db, {
        phoneNumber: '+12125550100',
        ...(policy && { policy }),
      })
      const definition = { entry: 'first', steps: steps() }
      const automationId = await createAutomation(db, organization, definition)
      const runId = await startRun(db, organization, automationId, origin)
      time.nowMs = startMs
      return { automationId, runId }
    },
    /** The run's call ends, and the run goes on. */
    async answer(runId: string, how: CallEnd): Promise<void> {
      await endCall(db, current(), (await lastCall(runId)).id, how)
      await turn()
    },
    cancel: (runId: string) =>
      db.transaction((tx) =>
        cancelAutomationRun(
          { params: { run_id: runId }, query: {}, body: {} },
          {
            db: tx,
            parts: { endCall: createEndCall([wakeRunsOfCalls]) },
            organizationId: current().organizationId,
            principal: somePrincipal,
            requestId: 'r',
            visit: someVisit,
            version: latestVersion,
          },
        ),
      ),
    setTo: (automationId: string, status: 'active' | 'paused' | 'archived') =>
      db.transaction((tx) => setAutomationStatus(tx, automationId, status)),
  }
}

/** A database that runs a function before each statement of its transactions. */
export const interrupting = (
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
