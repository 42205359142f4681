import { frameMs } from '../../audio/frame.ts'
import type { Database, Transaction } from '../../database/database.ts'
import type { EndedCall, OnCallEnded } from '../../domains/calls/lifecycle/call-ended.ts'
import { finishCall } from '../../domains/calls/lifecycle/end-held-call.ts'
import { markConnected } from '../../domains/calls/lifecycle/mark-connected.ts'
import {
  requeueCongested,
  requeueTrunkDown,
  requeueUnsent,
} from '../../domains/calls/lifecycle/requeue-call.ts'
import { insertRecording, type RecordedFrames } from '../../domains/recordings/recording-store.ts'
import { openResults } from '../../domains/results/open-results.ts'
import { costOf, type PriceTable } from '../../domains/results/price-table.ts'
import { insertTurnLatencies, insertUsage } from '../../domains/results/usage-store.ts'
import { appendTurn, hasTurns } from '../../domains/results/transcript-store.ts'
import { resultsAtEnd } from './call-results.ts'
import { enqueueEncoding, enqueueSummary } from './follow-up-jobs.ts'
import type { AnsweredCall, CallLedger, DialableCall, FinishedCall } from './live-call-port.ts'
import type { EngineSettings, HangUpReason, MediaReport } from '../media/media-protocol.ts'

export interface CallLedgerDependencies {
  readonly database: Database
  /** The do-not-call list; harmless when the number is on it. */
  addDoNotCall(tx: Transaction, call: EndedCall): Promise<void>
  /** Settlement of a batch, a step of an Automation: whatever else has to commit with every end of a call. */
  readonly onCallEnded?: OnCallEnded
  /** The task that the node with the spool serves. */
  readonly encodingTask: string
  /** By model; what none is named for costs an unknown amount. */
  readonly prices?: PriceTable
}

/**
 * Results and their job commit together with every terminal state, whoever writes it: the live call, a cancellation in
 * the queue, the rescue of a lost call. The recording of a lost call is adopted later, by the node that has its spool.
 */
export const openResultsOfEndedCall: OnCallEnded = (tx, call) => settleResults(tx, call, undefined)

const settleResults = async (
  tx: Transaction,
  call: EndedCall,
  hangUpReason: HangUpReason | undefined,
): Promise<void> => {
  const results = resultsAtEnd({
    status: call.status,
    wasAnswered: call.connectedAt !== null,
    hasTurns: await hasTurns(tx, call),
  })
  await openResults(tx, call, results)
  if (results.status === 'processing') await enqueueSummary(tx, call, hangUpReason)
}

/** The ledger of live calls over the database. */
export const createCallLedger = (deps: CallLedgerDependencies): CallLedger => ({
  markConnected: (call, connectedAt) => markConnected(deps.database, call, connectedAt),
  requeue: (call, attempt) =>
    attempt.kind === 'unsent'
      ? requeueUnsent(deps.database, call, attempt.reason)
      : attempt.kind === 'trunk_down'
        ? requeueTrunkDown(deps.database, call, { ...attempt, attempt: call.attempt })
        : requeueCongested(deps.database, call, { ...attempt, attempt: call.attempt }),
  appendTurn: (call, turn) => appendTurn(deps.database, call, turn),
  finish: (call, finished) => deps.database.transaction((tx) => finish(deps, tx, call, finished)),
})

const finish = async (
  deps: CallLedgerDependencies,
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
  for (const turn of answered?.unsavedTurns ?? []) await appendTurn(tx, call, turn)
  if (answered !== undefined) await storeUsage(deps, tx, call, answered)
  if (answered?.optedOut === true) await deps.addDoNotCall(tx, ended)
  if (answered?.report.recordingPath !== undefined) {
    const frames = framesOf(answered.report)
    await insertRecording(tx, { ...ended, recordedAt: answered.connectedAt, frames })
    await enqueueEncoding(tx, call, deps.encodingTask)
  }
  await settleResults(tx, ended, answered?.hangUpReason)
  await deps.onCallEnded?.(tx, ended)
  return true
}

/** What models and turns took, for whoever pays and whoever waits. */
const storeUsage = async (
  { prices }: CallLedgerDependencies,
  tx: Transaction,
  call: DialableCall,
  { measured, report }: AnsweredCall,
): Promise<void> => {
  if (measured === undefined) return
  const { engine, timing } = measured
  await insertTurnLatencies(tx, call, timing.latencies)
  if (report.usage === undefined) return
  const models = modelsOf(engine)
  await insertUsage(tx, call, {
    purpose: 'conversation',
    ...models,
    ...report.usage,
    costMicrousd: costOf(prices?.[models.model ?? models.engine], report.usage),
    firstWordsMs: timing.firstWordsMs,
  })
}

const modelsOf = (engine: EngineSettings) => {
  const server = engine.kind === 'realtime' ? engine : engine.model
  return { engine: engine.kind, provider: new URL(server.url).host, model: server.model }
}

/** How complete the recording is; unknown where the media thread was lost. */
const framesOf = ({ durationMs, framesLost }: MediaReport): RecordedFrames | undefined => {
  if (durationMs === undefined) return undefined
  const expected = durationMs / frameMs
  return { expected, written: expected - framesLost }
}
