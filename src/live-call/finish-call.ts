import type { Database, Queryable, Transaction } from '../database/database.ts'
import type { EndedCall, OnCallEnded } from '../domains/calls/call-ended.ts'
import {
  finishCall,
  markConnected,
  requeueCongested,
  requeueUnsent,
} from '../domains/calls/call-progress-store.ts'
import { resultsAtEnd, type ResultsAtEnd } from './call-results.ts'
import { enqueueEncoding, enqueueSummary, type CallKey } from './follow-up-jobs.ts'
import type { CallLedger, DialableCall, FinishedCall } from './live-call-port.ts'
import type { SpokenTurn } from './media-protocol.ts'

/** What other tables get from the end of a call. */
export interface EndingStores {
  /** Idempotent by the turn's sequence. */
  appendTurn(db: Queryable, call: CallKey, turn: SpokenTurn): Promise<void>
  hasTurns(db: Queryable, call: CallKey): Promise<boolean>
  /** One row for the summary and one for the transcript. */
  openResults(tx: Transaction, call: CallKey, results: ResultsAtEnd): Promise<void>
  /** Status `encoding` until the MP3 is stored. */
  insertRecording(tx: Transaction, call: EndedCall): Promise<void>
  addDoNotCall(tx: Transaction, call: EndedCall): Promise<void>
}

/**
 * What commits together with every terminal state, whoever writes it: the live call, a cancellation in the queue, the
 * rescue of a lost call. The recording of a lost call is adopted later, by the node that has its spool.
 */
export const createOnCallEnded =
  (stores: Pick<EndingStores, 'hasTurns' | 'openResults'>): OnCallEnded =>
  async (tx, call) => {
    const results = resultsAtEnd({
      status: call.status,
      wasAnswered: call.connectedAt !== null,
      hasTurns: await stores.hasTurns(tx, call),
    })
    await Promise.all([
      stores.openResults(tx, call, results),
      results.status === 'processing' ? enqueueSummary(tx, call) : undefined,
    ])
  }

/** The ledger over the database. `encodingTask` is the task that the node with the spool serves. */
export const createCallLedger = (
  database: Database,
  stores: EndingStores,
  encodingTask: string,
): CallLedger => {
  const onCallEnded = createOnCallEnded(stores)

  const finish = async (
    tx: Transaction,
    call: DialableCall,
    { ending, answered }: FinishedCall,
  ): Promise<boolean> => {
    const ended = await finishCall(tx, call, {
      ...ending,
      durationSeconds: answered?.durationSeconds,
      connectedAt: answered?.connectedAt,
    })
    if (ended === undefined) return false
    for (const turn of answered?.unsavedTurns ?? []) await stores.appendTurn(tx, call, turn)
    if (answered?.optedOut === true) await stores.addDoNotCall(tx, ended)
    if (answered?.report.recordingPath !== undefined) {
      await stores.insertRecording(tx, ended)
      await enqueueEncoding(tx, call, encodingTask)
    }
    await onCallEnded(tx, ended)
    return true
  }

  return {
    markConnected: (call, connectedAt) => markConnected(database, call, connectedAt),
    requeue: (call, attempt) =>
      attempt.kind === 'unsent'
        ? requeueUnsent(database, call, attempt.reason)
        : requeueCongested(database, call, { ...attempt, attempt: call.attempt }),
    appendTurn: (call, turn) => stores.appendTurn(database, call, turn),
    finish: (call, finished) => database.transaction((tx) => finish(tx, call, finished)),
  }
}
