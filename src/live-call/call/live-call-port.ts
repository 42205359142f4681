import type { DialableCall } from '../../domains/calls/lifecycle/hand-over.ts'
import type { GatewayTry } from '../../telephony/carrier.ts'
import type { AttemptEnding, CallEnding } from './call-ending.ts'
import type { CallNote } from './call-notes.ts'
import type { ConversationTiming } from './watch-conversation.ts'
import type {
  ConversationPlan,
  EngineSettings,
  RequestedHangUp,
  MediaReport,
} from '../media/media-protocol.ts'
import type { SipTrace } from '../../domains/calls/sip-trace-store.ts'
import type { SpokenTurn } from '../../domains/results/transcript-store.ts'

/** Everything a conversation needs from the database and the settings, read once per call. */
export interface CallPlan extends ConversationPlan {
  readonly engine: EngineSettings
  /** The caller ID that the callee sees, E.164 with `+`. */
  readonly callerId: string
  /** False: the organization or the agent wants no recording, and there is no recorder. */
  readonly isRecorded: boolean
}

/** `problem`: one sentence, why this call can never be held (its agent's engine is not available here). */
export type LoadedPlan = { readonly plan: CallPlan } | { readonly problem: string }

/**
 * Records the events of a live call. Every function is fenced by the call's lease token; `false` means the race was
 * lost.
 */
export interface CallLedger {
  markConnected(call: DialableCall, connectedAt: Date, isRecorded?: boolean): Promise<boolean>
  /** `dialing` → `queued`, the only backward edge of decision D3. */
  requeue(call: DialableCall, attempt: RequeuedAttempt): Promise<boolean>
  /**
   * The ending of a call that the carrier refused for congestion once too often; undefined: it goes back to the queue.
   */
  endOfCongestion?(call: DialableCall, attempt: RequeuedAttempt): Promise<CallEnding | undefined>
  /** Something for the call's explanation, while it goes on. */
  note(call: DialableCall, note: CallNote): Promise<boolean>
  /** Which gateways were tried. */
  noteTries?(call: DialableCall, tries: readonly GatewayTry[]): Promise<void>
  /** The SIP messages of this attempt so far; whoever holds the call by now. */
  saveTrace(call: DialableCall, trace: SipTrace): Promise<void>
  /** Idempotent by the turn's sequence. */
  appendTurn(call: DialableCall, turn: SpokenTurn): Promise<void>
  /** The terminal state and all its consequences, in one transaction. */
  finish(call: DialableCall, finished: FinishedCall): Promise<boolean>
}

type RequeuedAttempt = Extract<AttemptEnding, { kind: 'congested' | 'trunk_down' | 'unsent' }>

export interface FinishedCall {
  readonly ending: CallEnding
  /** Present for an answered call. */
  readonly answered?: AnsweredCall
}

export interface AnsweredCall {
  readonly connectedAt: Date
  readonly durationSeconds: number
  readonly optedOut: boolean
  /** Present if there was no recorder, because none was wanted. */
  readonly isUnrecorded?: true
  /** Turns that could not be stored during the call. */
  readonly unsavedTurns: readonly SpokenTurn[]
  /** How many turns were spoken in all. */
  readonly turnCount: number
  readonly report: MediaReport
  /** The engine of the conversation, and its latencies. */
  readonly measured?: { readonly engine: EngineSettings; readonly timing: ConversationTiming }
  /** Why we hung up, if the conversation or its cap was the reason. */
  readonly hangUpReason?: RequestedHangUp
}
