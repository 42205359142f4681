import type { HangUpReason } from '../../call-text/hang-up-reason.ts'
import type { NobodyKind } from '../answering-party/answer-classifier.ts'
import type { VoicemailResult, VoicemailSettings } from '../answering-party/voicemail.ts'
import type { VoiceActivityDetector } from '../../audio/voice-activity.ts'
import type { TurnTakingSettings } from '../turn-taking/turn-taking-settings.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { EngineUsage, VoiceSession } from '../engine/voice-engine.ts'
import type { G711Codec } from '../../audio/g711.ts'

export interface ConversationOptions {
  readonly session: VoiceSession
  readonly codec: G711Codec
  readonly agent: ConversationAgent
  /** Belongs to this call; closed by `finish`. */
  readonly voiceActivity: VoiceActivityDetector
  readonly listener: ConversationListener
  readonly logger: Logger
}

export interface ConversationAgent extends VoicemailSettings {
  /** BCP 47; selects the language of our own prompts ("Are you still there?"). */
  readonly language: string
  readonly maxDurationMs: number
  /** How turns are taken where the engine leaves them to the loop; by default as usual. */
  readonly turnTaking?: TurnTakingSettings | undefined
  /** Whether the agent greets by itself; by default it does. */
  readonly hasGreeting?: boolean | undefined
}

export interface ConversationListener {
  /** Final turns, in the order in which they began (a late one may still follow its successor). */
  onTurn(turn: Turn): void
  /** The latency of one reply of the agent. */
  onLatency?(latency: TurnLatency): void
  /** The agent was heard for the first time, this long after the answer. */
  onFirstWords?(atMs: number): void
  /** The goodbye has been played: the call must end now. Called at most once. */
  onHangUp(reason: HangUpReason): void
  /** The callee opted out. Called at most once. */
  onOptOut(): void
  /** A machine answered, and it is known whether it got our message. Called at most once. */
  onVoicemail(messageLeft: boolean): void
  /** A machine or the network answered, and no person; the call ends. Called at most once. */
  onNobody(kind: NobodyKind): void
  /** Digits to send to the callee now, while the agent is silent. */
  onDtmf(digits: string): void
  /**
   * Asks the carrier to connect the callee with the colleague in the agent's settings. Absent if
   * they name none.
   */
  transfer?(): Promise<TransferResult>
  /**
   * Runs a tool that is not built in. The agent learns when it rejects or takes longer than 8 s.
   */
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
  /** As heard: the text of an interrupted agent ends at the cut, with `…`. */
  readonly text: string
  /** Milliseconds since the answer at which the first voiced frame of the turn was sent or heard. */
  readonly audioOffsetMs: number
}

/** The beginning of a turn that is being spoken. */
export interface PartialTurn {
  /** As heard so far, to the last whole word. */
  readonly text: string
  /** As that of the turn once it is final, give or take a silent beginning. */
  readonly audioOffsetMs: number
}

/**
 * How the time between the callee's last voiced sound and the agent's reply was spent.
 * Milliseconds.
 */
export interface TurnLatency {
  /** When the agent's reply began, milliseconds since the answer of the call. */
  readonly audioOffsetMs: number
  /** Until the engine decided that the speech was over. */
  readonly endpointingMs: number
  /** Until its words were known; null where the model hears audio itself. */
  readonly transcriptionMs: number | null
  /** Until the model had its first words, or its first audio where it speaks itself. */
  readonly modelMs: number
  /** Until the words were audio; null where the model speaks itself. */
  readonly speechMs: number | null
  /** Until that audio was on its way to the callee: our share. */
  readonly ownMs: number
  readonly totalMs: number
}

/** Facts about the call, for its outcome. */
export interface ConversationFacts {
  readonly hangUpReason?: HangUpReason
  readonly optedOut: boolean
  readonly voicemail: VoicemailResult
  /** The outcome that the agent gave when it ended the call. */
  readonly reportedOutcome?: string
  readonly usage: EngineUsage
}
