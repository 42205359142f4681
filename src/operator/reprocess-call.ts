import type { Database } from '../database/database.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import { reopenResult } from '../domains/results/settle-result.ts'
import type { CallKey } from '../domains/results/transcript-store.ts'
import { enqueueSummary } from '../live-call/call/follow-up-jobs.ts'

/** An operator's re-run: what is `exhausted` is `processing` again and tried anew (D7). Throws `OperatorError` if nothing is. */
export const reprocessCall = (database: Database, call: CallKey): Promise<void> =>
  database.transaction(async (tx) => {
    const summary = await reopenResult(tx, call, 'summary')
    const transcript = await reopenResult(tx, call, 'transcript')
    if (!summary && !transcript) {
      throw new OperatorError(
        `Nothing of call ${call.callId} is exhausted: there is nothing to be tried again.`,
      )
    }
    await enqueueSummary(tx, call, undefined)
  })
