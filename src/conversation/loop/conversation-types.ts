import type { HangUpReason } from '../../call-text/hang-up-reason.ts'
import type { NobodyKind } from '../answering-party/answer-classifier.ts'
import type { VoicemailResult, VoicemailSettings } from '../answering-party/voicemail.ts'
import type { VoiceActivityDetector } from '../../audio/voice-activity.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Codec, EngineUsage, VoiceSession } from '../engine/voice-engine.ts'

export interface ConversationOptions {
  readonly session: VoiceSession
  readonly codec: Codec
  readonly agent: ConversationAgent
  /** Of this call alone; closed by `finish`. */
  readonly voiceActivity: VoiceActivityDetector
  readonly listener: ConversationListener
  readonly logger: Logger
}

export interface ConversationAgent extends VoicemailSettings {
  /** BCP 47; picks the language of our own prompts ("Are you still there?"). */
  readonly language: string
  readonly maxDurationMs: number
}

export interface ConversationListener {
  /** Final turns, in the order in which they began (a late one may still come after its successor). */
  onTurn(turn: Turn): void
  /** How long a reply of the agent took. */
  onLatency?(latency: TurnLatency): void
  /** The agent was heard for the first time, this long after the answer. */
  onFirstWords?(atMs: number): void
  /** The goodbye has been heard: the call must end now. Called once at most. */
  onHangUp(reason: HangUpReason): void
  /** The callee asked never to be called again. Called once at most. */
  onOptOut(): void
  /** A machine answered, and it is settled whether it got our message. Called once at most. */
  onVoicemail(messageLeft: boolean): void
  /** An apparatus or the network answered, and no person; the call ends. Called once at most. */
  onNobody(kind: NobodyKind): void
  /** Digits to send to the callee, now: the agent is silent meanwhile. */
  onDtmf(digits: string): void
  /** Has the carrier connect the callee with the colleague in the agent's settings. Absent where they name none. */
  transfer?(): Promise<TransferResult>
  /** Runs a tool that is not built in. The agent gets to know its rejection, or that it took longer than 8 s. */
  runTool?(name: string, toolArguments: unknown): Promise<unknown>
}

export type TransferResult =
  | { readonly transferred: true }
  /** `reason`: one sentence for the model to read. */
  | { readonly transferred: false; readonly reason: string }

export interface Turn {
  /** From 1, in the order of `onTurn`. */
  readonly sequence: number
  readonly speaker: 'agent' | 'contact'
  /** As heard: an interrupted agent's text ends where it was cut, with `…`. */
  readonly text: string
  /** Milliseconds since the answer at which the first voiced frame of the turn was sent or heard. */
  readonly audioOffsetMs: number
}

/** What the time between the callee's last voiced sound and the agent's reply went into. Milliseconds. */
export interface TurnLatency {
  /** Milliseconds since the answer of the call at which the agent's reply began. */
  readonly audioOffsetMs: number
  /** Until the engine decided that the speech is over. */
  readonly endpointingMs: number
  /** Until its words were there; null where the model hears for itself. */
  readonly transcriptionMs: number | null
  /** Until the model had its first words, or its first sound where it speaks itself. */
  readonly modelMs: number
  /** Until they were sound; null where the model speaks itself. */
  readonly speechMs: number | null
  /** Until that sound was on its way to the callee: our share. */
  readonly ownMs: number
  readonly totalMs: number
}

/** What is known after the call, for its outcome. */
export interface ConversationFacts {
  readonly hangUpReason?: HangUpReason
  readonly optedOut: boolean
  readonly voicemail: VoicemailResult
  /** What the agent gave as outcome when it ended the call, where it did. */
  readonly reportedOutcome?: string
  readonly usage: EngineUsage
}
