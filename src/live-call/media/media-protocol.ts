import type { CallQuality } from '../../domains/results/quality-store.ts'
import type { SpokenTurn } from '../../domains/results/transcript-store.ts'
import type { NobodyKind } from '../../conversation/answering-party/answer-classifier.ts'
import type { HangUpReason } from '../../call-text/hang-up-reason.ts'
import type {
  PartialTurn,
  TransferResult,
  TurnLatency,
} from '../../conversation/loop/conversation-types.ts'
import type { CascadeEngineSettings } from '../../conversation/engines/cascade/cascade-engine.ts'
import type { RealtimeEngineSettings } from '../../conversation/engines/realtime/realtime-engine.ts'
import type { TurnTakingSettings } from '../../conversation/turn-taking/turn-taking-settings.ts'
import type { EngineUsage, SessionOptions } from '../../conversation/engine/voice-engine.ts'
import type { MediaAddress, NegotiatedMedia } from '../../telephony/carrier.ts'
import type { HttpTool } from './http-tool.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { ThreadLogMessage } from '../../runtime/thread-logger.ts'

/**
 * The messages between the main thread and a media worker. Plain data that survives a structured clone; the worker never
 * sees SIP or the database, the main thread never sees a packet or a sample. `channel` names one call within one worker
 * and is never used twice.
 */
export type ToMediaWorker =
  | {
      readonly type: 'open'
      readonly channel: number
      readonly callId: string
      readonly socket: MediaSocketSettings | 'browser'
    }
  | { readonly type: 'prepare'; readonly channel: number; readonly plan: ConversationPlan }
  | {
      readonly type: 'start'
      readonly channel: number
      readonly media: NegotiatedMedia
      readonly recording: RecordingTarget | undefined
    }
  | { readonly type: 'update_media'; readonly channel: number; readonly media: NegotiatedMedia }
  /** A key reported by signalling. */
  | { readonly type: 'pressed'; readonly channel: number; readonly digit: string }
  /** The final result of the transfer that the worker requested. */
  | {
      readonly type: 'transfer_settled'
      readonly channel: number
      readonly result: TransferResult
    }
  /** Mu-law of a browser's microphone, of any length. */
  | { readonly type: 'hear'; readonly channel: number; readonly g711: Uint8Array }
  /** Whether the agent's words are reported while they are spoken. */
  | { readonly type: 'report_words'; readonly channel: number; readonly isOn: boolean }
  /** Whether the call's sound is passed on, for those who listen. */
  | { readonly type: 'pass_sound'; readonly channel: number; readonly isOn: boolean }
  /** One `sound` event was taken. */
  | { readonly type: 'sound_taken'; readonly channel: number }
  | { readonly type: 'stop'; readonly channel: number }

export type FromMediaWorker =
  | { readonly type: 'opened'; readonly channel: number; readonly localMedia: MediaAddress }
  | { readonly type: 'open_failed'; readonly channel: number; readonly reason: string }
  | { readonly type: 'event'; readonly channel: number; readonly event: MediaEvent }
  /** The last message about a channel: everything is flushed and its socket is closed. */
  | { readonly type: 'ended'; readonly channel: number; readonly report: MediaReport }
  /** Once when the thread is ready, then each second: a heartbeat, and the load for admission. */
  | { readonly type: 'load'; readonly load: WorkerLoad }
  | ThreadLogMessage

/** Facts of a live call, in the order in which they happened. */
export type MediaEvent =
  | { readonly type: 'turn'; readonly turn: SpokenTurn }
  /** The agent's words so far; undefined once they stand in a turn, or were never heard. */
  | { readonly type: 'words'; readonly words: PartialTurn | undefined }
  /** A tenth of a second of G.711 (mu-law): the agent's first, then as much of the callee's. */
  | { readonly type: 'sound'; readonly g711: Uint8Array }
  | { readonly type: 'turn_latency'; readonly latency: TurnLatency }
  /** The agent was heard for the first time, this long after the answer. */
  | { readonly type: 'first_words'; readonly atMs: number }
  /** The conversation is over: its last words were played. `reason` is one of `RequestedHangUp`. */
  | { readonly type: 'hang_up'; readonly reason: RequestedHangUp }
  | { readonly type: 'voicemail'; readonly messageLeft: boolean }
  | { readonly type: 'opted_out' }
  /** A machine or the network answered, and no person; a `hang_up` follows. */
  | { readonly type: 'nobody'; readonly kind: NobodyKind }
  /** The agent wants the callee connected with the plan's `transferTo`; settled by `transfer_settled`. */
  | { readonly type: 'transfer' }
  | { readonly type: 'tool_used'; readonly name: string; readonly ok: boolean }
  | { readonly type: 'dtmf'; readonly digit: string }
  /** Keys that the trunk takes by SIP INFO. */
  | { readonly type: 'send_digits'; readonly digits: string }
  /** Told once: for some seconds no audio has come, or the other side reports that none of ours arrives. */
  | { readonly type: 'one_way_audio'; readonly missing: CallQuality['direction'] }
  /** No RTP arrived for `mediaSilenceLimitMs`. */
  | { readonly type: 'media_silence' }
  /** The engine or the worker broke; the call cannot go on. `reason` is one sentence without spoken words. */
  | { readonly type: 'breakdown'; readonly reason: string }

/** Why the conversation asks to hang up; a failed engine is a `breakdown`. */
export type RequestedHangUp = Exclude<HangUpReason, 'engine_failed'>

export interface MediaSocketSettings {
  readonly bindAddress: string
  /** Put into the SDP instead of the bound address (1:1 NAT). */
  readonly publicAddress?: string
  readonly portRange: { readonly min: number; readonly max: number }
}

/** The agent in this call, with its prompt already filled in. */
export interface ConversationPlan {
  /** The organization and call of the agent's tools. */
  readonly organizationId: OrganizationId
  readonly engine: EngineSettings
  readonly session: Omit<SessionOptions, 'callId' | 'codec'>
  /** How turns are taken where the session leaves them to the loop; as usual by default. */
  readonly turnTaking?: TurnTakingSettings
  readonly maxDurationMs: number
  readonly voicemail: 'hang_up' | 'leave_message'
  readonly voicemailMessage?: string
  /** The outcomes from which the agent chooses; the end_call tool offers the same. */
  readonly outcomes: readonly string[]
  /** The transfer target: E.164 or a SIP address, checked against the organization's policy. */
  readonly transferTo?: string
  readonly httpTools: readonly HttpTool[]
  /** Whether tools may reach private and loopback addresses. */
  readonly allowPrivateNetwork: boolean
}

/**
 * The engine: a server of the Realtime protocol (the sandbox's scripted model is one), or three servers in a row.
 */
export type EngineSettings =
  | ({ readonly kind: 'realtime' } & Omit<RealtimeEngineSettings, 'logger'>)
  | ({ readonly kind: 'cascade' } & Omit<CascadeEngineSettings, 'logger'>)

export interface RecordingTarget {
  readonly path: string
  readonly organizationId: OrganizationId
  /** Answer time, RFC 3339. */
  readonly startedAt: string
}

export interface MediaReport {
  /** Length of the recording clock: frames since the answer × 20 ms; `undefined` when the worker died with it. */
  readonly durationMs: number | undefined
  /** The audio's file; `undefined` when nothing was recorded. */
  readonly recordingPath: string | undefined
  /** Frames recorded as silence, because the disk was too slow. */
  readonly framesLost: number
  readonly usage: EngineUsage | undefined
  /** The outcome that the agent gave when it ended the call. */
  readonly reportedOutcome: string | undefined
  readonly rtp: RtpFigures
  /** Of each direction; empty when the worker died with it, or the phone was never answered. */
  readonly quality: readonly CallQuality[]
}

interface RtpFigures {
  readonly packetsSent: number
  readonly packetsReceived: number
  readonly packetsLost: number
}

export interface WorkerLoad {
  readonly calls: number
  /** 99th percentile of the lateness of ticks in the last ten to twenty seconds. */
  readonly latenessP99Ms: number
  /** CPU time of the thread since it began. */
  readonly cpuMs: number
}

/** No RTP for this long ends a call (decision D3). Not counted while we are on hold. */
export const mediaSilenceLimitMs = 30_000
