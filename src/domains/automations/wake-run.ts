import type { CallEndSubscriber } from '../calls/lifecycle/end-call.ts'
import { runsChannel } from './queue-run.ts'
import { wakeRunOfCall } from './run-store.ts'

/** The end of a run's call wakes the run, in the transaction that ends it. */
export const wakeRunsOfCalls: CallEndSubscriber = async (tx, calls) => {
  for (const { organizationId, callId, automationRunId } of calls) {
    if (automationRunId === null) continue
    if (await wakeRunOfCall(tx, organizationId, automationRunId, callId))
      tx.hintAfterCommit(runsChannel)
  }
}
