import { frameMs } from '../../audio/frame.ts'
import type { Database, Transaction } from '../../database/database.ts'
import type { EndCall } from '../../domains/calls/lifecycle/end-call.ts'
import { endHeld } from '../../domains/calls/lifecycle/end-held-call.ts'
import { noteOnCall } from '../../domains/calls/lifecycle/note-on-call.ts'
import { markConnected } from '../../domains/calls/lifecycle/mark-connected.ts'
import { findEndOfCongestion } from '../../domains/calls/lifecycle/congestion-deadline.ts'
import {
  requeueCongested,
  requeueTrunkDown,
  requeueUnsent,
} from '../../domains/calls/lifecycle/requeue-call.ts'
import { insertTries } from '../../domains/calls/call-tries.ts'
import type { RecordedFrames } from '../../domains/recordings/recording-store.ts'
import { saveSipTrace } from '../../domains/calls/sip-trace-store.ts'
import { costOf, type PriceTable } from '../../domains/results/price-table.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import { appendTurn } from '../../domains/results/transcript-store.ts'
import type { CallUsage } from '../../domains/results/usage-store.ts'
import type { LearnedOnCall } from './call-end-subscribers.ts'
import { notPlaced } from './call-ending.ts'
import { countEndedCalls, countTries } from './count-calls.ts'
import type { AnsweredCall, CallLedger, FinishedCall } from './live-call-port.ts'
import type { DialableCall } from '../../domains/calls/lifecycle/hand-over.ts'
import type { EngineSettings, MediaReport } from '../media/media-protocol.ts'

interface CallLedgerDependencies {
  readonly database: Database
  readonly endCall: EndCall<LearnedOnCall>
  /** The task that the node with the spool serves. */
  readonly encodingTask: string
  /** By model; the cost of a model without a price is unknown. */
  readonly prices?: PriceTable
  readonly telemetry?: Telemetry
}

/** The ledger of live calls over the database. */
export const createCallLedger = (deps: CallLedgerDependencies): CallLedger => ({
  markConnected: (call, connectedAt, isRecorded) =>
    markConnected(deps.database, call, connectedAt, isRecorded),
  requeue: (call, attempt) =>
    attempt.kind === 'unsent'
      ? requeueUnsent(deps.database, call, attempt.reason)
      : attempt.kind === 'trunk_down'
        ? requeueTrunkDown(deps.database, call, { ...attempt, attempt: call.attempt })
        : requeueCongested(deps.database, call, { ...attempt, attempt: call.attempt }),
  endOfCongestion: async (call, attempt) => {
    if (attempt.kind !== 'congested') return undefined
    const reason = await findEndOfCongestion(deps.database, call, attempt.reason)
    return reason === undefined ? undefined : notPlaced(reason)
  },
  note: (call, note) => noteOnCall(deps.database, call, note),
  noteTries: (call, tries) => {
    countTries(deps.telemetry, tries)
    return insertTries(deps.database, call, call.attempt, tries)
  },
  saveTrace: (call, trace) => saveSipTrace(deps.database, call, trace),
  appendTurn: (call, turn) => appendTurn(deps.database, call, turn),
  finish: (call, finished) => deps.database.transaction((tx) => finish(deps, tx, call, finished)),
})

const finish = async (
  deps: CallLedgerDependencies,
  tx: Transaction,
  call: DialableCall,
  { ending, answered }: FinishedCall,
): Promise<boolean> => {
  const end = endHeld(call, {
    ...ending,
    durationSeconds: answered?.durationSeconds,
    connectedAt: answered?.connectedAt,
  })
  const learned = answered && learnedOn(answered, deps)
  const ended = await deps.endCall(tx, end, learned)
  tx.afterCommit(() => countEndedCalls(deps.telemetry, ended, learned))
  return ended.length > 0
}

const learnedOn = (
  answered: AnsweredCall,
  { encodingTask, prices }: CallLedgerDependencies,
): LearnedOnCall => {
  const { optedOut, unsavedTurns, report, measured, hangUpReason, connectedAt } = answered
  const usage = usageOf(answered, prices)
  return {
    optedOut,
    ...(answered.isUnrecorded && { isUnrecorded: true }),
    unsavedTurns,
    latencies: measured?.timing.latencies ?? [],
    quality: report.quality,
    ...(usage !== undefined && { usage }),
    ...(report.recordingPath !== undefined && {
      recording: { recordedAt: connectedAt, frames: framesOf(report), encodingTask },
    }),
    ...(hangUpReason !== undefined && { hangUpReason }),
  }
}

const usageOf = (
  { measured, report }: AnsweredCall,
  prices: PriceTable | undefined,
): CallUsage | undefined => {
  if (measured === undefined || report.usage === undefined) return undefined
  const models = modelsOf(measured.engine)
  return {
    purpose: 'conversation',
    ...models,
    ...report.usage,
    costMicrousd: costOf(prices?.[models.model ?? models.engine], report.usage),
    firstWordsMs: measured.timing.firstWordsMs,
  }
}

const modelsOf = (engine: EngineSettings) => {
  const server = engine.kind === 'realtime' ? engine : engine.llm[0]
  const provider = server?.url === undefined ? undefined : new URL(server.url).host
  return { engine: engine.kind, provider: provider ?? 'api.openai.com', model: server?.model }
}

/** How complete the recording is; unknown if the media thread was lost. */
const framesOf = ({ durationMs, framesLost }: MediaReport): RecordedFrames | undefined => {
  if (durationMs === undefined) return undefined
  const expected = durationMs / frameMs
  return { expected, written: expected - framesLost }
}
