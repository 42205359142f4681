import type { AnswerStatus } from '../../src/contract/states.ts'
import type { Database } from '../../src/database/database.ts'
import { insertAutomation } from '../../src/domains/automations/automation-store.ts'
import type { AutomationDefinition } from '../../src/domains/automations/definition.ts'
import { queueRun } from '../../src/domains/automations/queue-run.ts'
import { wakeRunsOfCalls } from '../../src/domains/automations/wake-run.ts'
import type { CallOrigin, TerminalStatus } from '../../src/domains/calls/lifecycle/call-states.ts'
import { newId } from '../../src/runtime/ids.ts'
import { execute, type CallingOrganization } from './queue-fixtures.ts'
import { createEndCall } from '../../src/domains/calls/lifecycle/end-call.ts'
import { endHeld } from '../../src/domains/calls/lifecycle/end-held-call.ts'

/** As published, without the checks of publishing. */
export const createAutomation = async (
  db: Database,
  { organizationId }: Pick<CallingOrganization, 'organizationId'>,
  definition: unknown,
): Promise<string> => {
  const row = await insertAutomation(db, organizationId, newId(), 'active', {
    name: 'Test',
    definition: definition as AutomationDefinition,
  })
  return row.id
}

export const startRun = async (
  db: Database,
  { organizationId, contactId }: CallingOrganization,
  automationId: string,
  origin: CallOrigin = 'api',
): Promise<string> =>
  (await db.transaction((tx) => queueRun(tx, organizationId, { automationId, contactId, origin })))
    .id

/** The columns of a run that tests look at. */
export interface StoredRun {
  readonly status: string
  readonly step: string | null
  readonly phase: string
  readonly attempt: number
  readonly steps_executed: number
  readonly call_id: string | null
  readonly wait_reason: string | null
  readonly wake_at: Date | null
  readonly due_at: Date | null
  readonly failure_code: string | null
  readonly sequence: number
  readonly faults: number
  readonly started_at: Date | null
  readonly completed_at: Date | null
  readonly cancelled_at: Date | null
}

export const readRun = async (db: Database, runId: string): Promise<StoredRun> => {
  const [run] = await execute<StoredRun>(db, 'select * from automation_runs where id = $1', [runId])
  if (!run) throw new Error(`there is no run ${runId}`)
  return run
}

/** The run's moves, by name. */
export const movesOf = async (db: Database, runId: string): Promise<string[]> =>
  (
    await execute<{ move: string }>(
      db,
      'select move from automation_run_moves where run_id = $1 order by sequence',
      [runId],
    )
  ).map(({ move }) => move)

export interface StoredCall {
  readonly id: string
  readonly status: string
  readonly origin: string
  readonly lane_id: string
}

export const callsOf = (db: Database, runId: string): Promise<StoredCall[]> =>
  execute<StoredCall>(
    db,
    'select id, status, origin, lane_id from calls where automation_run_id = $1 order by created_at, id',
    [runId],
  )

/** Makes a queued call live, as a dispatcher would: leases it. */
export const dialCall = async (db: Database, callId: string): Promise<string> => {
  const leaseToken = newId()
  await execute(
    db,
    `update calls set status = 'dialing', lease_token = $2, dialing_at = now() where id = $1`,
    [callId, leaseToken],
  )
  return leaseToken
}

export interface CallEnd {
  readonly status: TerminalStatus
  readonly answerStatus: AnswerStatus
  readonly outcome?: string | undefined
}

const endAndWake = createEndCall([wakeRunsOfCalls])

/** Ends a live call, and wakes its run in the same transaction. */
export const endLiveCall = (
  db: Database,
  { organizationId }: Pick<CallingOrganization, 'organizationId'>,
  callId: string,
  leaseToken: string,
  end: CallEnd,
): Promise<void> =>
  db.transaction(async (tx) => {
    const [ended] = await endAndWake(tx, endHeld({ organizationId, callId, leaseToken }, end))
    if (!ended) throw new Error(`call ${callId} is not live`)
  })

/** Dials the run's queued call and ends it. */
export const endCall = async (
  db: Database,
  organization: Pick<CallingOrganization, 'organizationId'>,
  callId: string,
  end: CallEnd,
): Promise<void> => endLiveCall(db, organization, callId, await dialCall(db, callId), end)
