import type { Database, Transaction } from '../database/database.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import { reopenResult } from '../domains/results/settle-result.ts'
import type { CallKey } from '../domains/results/transcript-store.ts'
import { enqueueSummary } from '../live-call/call/follow-up-jobs.ts'

/** Retries the `exhausted` results of a call: they are `processing` again (D7). Throws `OperatorError` if there are none. */
export const reprocessCall = (database: Database, call: CallKey): Promise<void> =>
  database.transaction((tx) => reprocessCallIn(tx, call))

/** The same in a transaction of the caller. */
export const reprocessCallIn = async (tx: Transaction, call: CallKey): Promise<void> => {
  const summary = await reopenResult(tx, call, 'summary')
  const transcript = await reopenResult(tx, call, 'transcript')
  if (!summary && !transcript) {
    throw new OperatorError(
      `Nothing of call ${call.callId} is exhausted: there is nothing to be tried again.`,
    )
  }
  await enqueueSummary(tx, call, undefined)
}
