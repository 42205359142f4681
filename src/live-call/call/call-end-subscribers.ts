import type { Transaction } from '../../database/database.ts'
import type { CallEndSubscriber } from '../../domains/calls/lifecycle/end-call.ts'
import type { EndedCall } from '../../domains/calls/lifecycle/ended-call.ts'
import { countNumberResults } from '../../domains/numbers/count-results.ts'
import { uncountCalls } from '../../domains/numbers/uncount-calls.ts'
import { addDoNotCall } from '../../domains/organizations/do-not-call.ts'
import { markUnrecorded } from '../../domains/recordings/unrecorded-calls.ts'
import { insertRecording, type RecordedFrames } from '../../domains/recordings/recording-store.ts'
import { countUsage } from '../../domains/results/count-usage.ts'
import { openResults, openResultsOfUndialled } from '../../domains/results/open-results.ts'
import { insertQuality, type CallQuality } from '../../domains/results/quality-store.ts'
import { appendTurn, hasTurns, type SpokenTurn } from '../../domains/results/transcript-store.ts'
import {
  insertTurnLatencies,
  insertUsage,
  type CallUsage,
  type StoredLatency,
} from '../../domains/results/usage-store.ts'
import type { RequestedHangUp } from '../media/media-protocol.ts'
import { enqueueEncoding, enqueueSummary } from './follow-up-jobs.ts'
import { resultsAtEnd, unavailableReason } from './results-at-end.ts'

/** What an answered call adds to its end. An end written by another part has none of it. */
export interface LearnedOnCall {
  readonly optedOut: boolean
  readonly isUnrecorded?: true
  /** Turns that could not be stored during the call. */
  readonly unsavedTurns: readonly SpokenTurn[]
  readonly latencies: readonly StoredLatency[]
  /** Of each direction of its audio. */
  readonly quality: readonly CallQuality[]
  readonly usage?: CallUsage
  /** Omitted if nothing was recorded. */
  readonly recording?: LearnedRecording
  /** Why we hung up, if the conversation or its cap was the reason. */
  readonly hangUpReason?: RequestedHangUp
}

interface LearnedRecording {
  readonly recordedAt: Date
  readonly frames: RecordedFrames | undefined
  /** The task that the node with the spool serves. */
  readonly encodingTask: string
}

type Subscriber = CallEndSubscriber<LearnedOnCall>

/** Stores the words, and the usage of models and latency of turns. */
export const storeConversation: Subscriber = async (tx, calls) => {
  for (const call of calls) {
    if (call.learned === undefined) continue
    const { unsavedTurns, latencies, quality, usage } = call.learned
    for (const turn of unsavedTurns) await appendTurn(tx, call, turn)
    await insertTurnLatencies(tx, call, latencies)
    await insertQuality(tx, call, quality)
    if (usage !== undefined) await insertUsage(tx, call, usage)
  }
}

/** The number of a contact who asked not to be called again. */
export const blockOptedOut: Subscriber = async (tx, calls) => {
  for (const { organizationId, callId, phoneNumber, learned } of calls)
    if (learned?.optedOut === true) await addDoNotCall(tx, organizationId, phoneNumber, callId)
}

/** The recording of a lost call is adopted later, by the node that has its spool (adopt-call.ts). */
export const keepRecording: Subscriber = async (tx, calls) => {
  for (const call of calls) {
    // It may have ended before its answer was stored.
    if (call.learned?.isUnrecorded) await markUnrecorded(tx, call)
    const recording = call.learned?.recording
    if (recording === undefined) continue
    const { recordedAt, frames, encodingTask } = recording
    await insertRecording(tx, { ...call, recordedAt, ...(frames !== undefined && { frames }) })
    await enqueueEncoding(tx, call, encodingTask)
  }
}

/** The day's usage of agent and key. */
export const countUsageOfCalls: Subscriber = async (tx, calls) => {
  const dialled = calls.filter(({ dialledAt }) => dialledAt !== null)
  const [first] = dialled
  if (first === undefined) return
  const callIds = dialled.map(({ callId }) => callId)
  await countUsage(tx, first.organizationId, callIds)
}

/** How the calls of each number end. */
export const countNumberResultsOfCalls: Subscriber = async (tx, calls) => {
  const dialled = calls.filter(({ dialledAt }) => dialledAt !== null)
  const [first] = dialled
  if (first === undefined) return
  const callIds = dialled.map(({ callId }) => callId)
  await countNumberResults(tx, first.organizationId, callIds)
}

/** Calls that were given a number to show, and ended before they were dialled. */
export const uncountNumbersOfCalls: Subscriber = async (tx, calls) => {
  const undialled = calls.filter(({ dialledAt }) => dialledAt === null)
  const [first] = undialled
  if (first === undefined) return
  const callIds = undialled.map(({ callId }) => callId)
  await uncountCalls(tx, first.organizationId, callIds)
}

/** Summary and transcript, and the job that makes them. */
export const openResultsOfCalls: Subscriber = async (tx, calls) => {
  const undialled = calls.filter(({ dialledAt }) => dialledAt === null)
  for (const [status, some] of Map.groupBy(undialled, (call) => call.status))
    await openResultsOfUndialled(tx, some, unavailableReason({ status, wasAnswered: false }))
  for (const call of calls) if (call.dialledAt !== null) await openResultsOfDialled(tx, call)
}

const openResultsOfDialled = async (
  tx: Transaction,
  call: EndedCall<LearnedOnCall>,
): Promise<void> => {
  const results = resultsAtEnd({
    status: call.status,
    wasAnswered: call.connectedAt !== null,
    hasTurns: await hasTurns(tx, call),
  })
  await openResults(tx, call, results)
  if (results.status === 'processing') await enqueueSummary(tx, call, call.learned?.hangUpReason)
}
