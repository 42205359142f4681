import { activeFragment } from '../../domains/automations/run-fragments.ts'
import { sql, type Database, type Queryable } from '../../database/database.ts'
import { findActivePosition } from '../../domains/automations/run-store.ts'
import type { EndCall } from '../../domains/calls/lifecycle/end-call.ts'
import { cancelQueued } from '../../domains/calls/lifecycle/cancel-queued-call.ts'
import type { ClaimedRun } from './claim-runs.ts'
import { storeEnd } from './commit-store.ts'

const countStatement = sql(
  'fault-store.countFault',
  `update automation_runs
      set faults  = faults + 1,
          wake_at = coalesce($3::timestamptz, now()) + $4 * interval '1 millisecond'
    where organization_id = $1
      and id = $2
      and ${activeFragment('status')}
   returning faults`,
)

const readStatement = sql(
  'fault-store.readFaults',
  `select faults
     from automation_runs
    where organization_id = $1
      and id = $2`,
)

/** Counts a fault at this position and schedules a retry. Undefined: the run is over. */
export const storeFault = async (
  db: Queryable,
  { organizationId, runId }: ClaimedRun,
  delayMs: (faults: number) => number,
  now?: Date,
): Promise<number | undefined> => {
  const before = await db.row<{ faults: number }>(readStatement, [organizationId, runId])
  const row = await db.row<{ faults: number }>(countStatement, [
    organizationId,
    runId,
    now ?? null,
    delayMs((before?.faults ?? 0) + 1),
  ])
  return row?.faults
}

/** Fails a run that cannot be stepped; a queued call of it is cancelled. */
export const endFaultyRun = (
  db: Database,
  { organizationId, runId }: ClaimedRun,
  endCall: EndCall,
): Promise<void> =>
  db.transaction(async (tx) => {
    const reason = 'A fault of this program keeps it from going on.'
    const position = await findActivePosition(tx, organizationId, runId)
    if (!position) return
    if (position.call_id !== null)
      await endCall(tx, cancelQueued(organizationId, position.call_id, reason))
    await storeEnd(
      tx,
      { organizationId, runId, sequence: position.sequence, wakeCount: 0 },
      {
        status: 'failed',
        failureCode: 'internal_error',
        move: 'fail',
        reason,
        now: new Date(),
      },
    )
  })
