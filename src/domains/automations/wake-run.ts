import type { OnCallEnded } from '../calls/lifecycle/call-ended.ts'
import { runsChannel } from './queue-run.ts'
import { wakeRunOfCall } from './run-store.ts'

/** The end of a run's call wakes the run, in the transaction that ends it. */
export const wakeRunAfterCall: OnCallEnded = async (
  tx,
  { organizationId, callId, automationRunId },
) => {
  if (automationRunId === null) return
  if (await wakeRunOfCall(tx, organizationId, automationRunId, callId))
    tx.hintAfterCommit(runsChannel)
}
