import type { WebSocket } from 'ws'
import type { Dialect, RealtimeProfile } from './profiles.ts'
import type { SessionTuning, TuningMember } from './session-tuning.ts'
import type { WireAudio, WireFormat } from './wire-audio.ts'

export interface LinkSettings extends SessionTuning {
  /** `ws://` or `wss://`, with its path (`wss://api.openai.com/v1/realtime`); its fragment may name a profile. */
  readonly url: string
  readonly key?: string
  readonly model?: string
  /** Used when the agent names none. */
  readonly voice?: string
  /** The transcriber's model, on Azure its deployment; the profile's default if omitted. */
  readonly transcriptionModel?: string
  /** Instead of the formats of the profile. */
  readonly wireFormat?: WireFormat
  /** A tenant supplied the address: only public hosts are allowed. */
  readonly publicHostsOnly?: boolean
  /** Additional trusted authorities, PEM; for servers with their own certificate. */
  readonly ca?: string
}

/** A socket whose session has accepted its settings. */
export interface OpenedLink {
  readonly socket: WebSocket
  readonly wire: WireAudio
  readonly dialect: Dialect
  readonly speechTimes: RealtimeProfile['speechTimes']
  /** What the server would not take; the session goes without. */
  readonly refused: readonly TuningMember[]
  /** Whether the callee's words are expected. */
  readonly isTranscribed: boolean
  /** How long from now until the server ends the session; `undefined` if it is not known to do so. */
  readonly capMs: number | undefined
}
