import type { Transaction } from '../../database/database.ts'
import { insertResult, insertUnavailableResults } from './result-store.ts'
import type { UnavailableReason } from './result-states.ts'
import type { CallKey } from './transcript-store.ts'

/** The initial state of a call's results when it ends. */
export type ResultsAtEnd =
  | { readonly status: 'processing' }
  | { readonly status: 'unavailable'; readonly reason: UnavailableReason }

/**
 * Creates both results of a call, in the transaction that ends it: pending for a job, or closed. Repeatable. Before
 * this they are `processing` because of `call_not_ended`.
 */
export const openResults = async (
  tx: Transaction,
  call: CallKey,
  results: ResultsAtEnd,
): Promise<void> => {
  const state =
    results.status === 'processing'
      ? ({ status: 'processing', reason: 'awaiting_transcript' } as const)
      : results
  await Promise.all([
    insertResult(tx, call, 'transcript', state),
    insertResult(tx, call, 'summary', state),
  ])
}

/** The same for calls of one organization that ended before they were dialled, in one statement. */
export const openResultsOfUndialled = async (
  tx: Transaction,
  calls: readonly CallKey[],
  reason: UnavailableReason,
): Promise<void> => {
  const [first] = calls
  if (first === undefined) return
  const callIds = calls.map(({ callId }) => callId)
  await insertUnavailableResults(tx, first.organizationId, callIds, reason)
}
