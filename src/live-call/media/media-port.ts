import type { TransferResult } from '../../conversation/loop/conversation-types.ts'
import type { MediaAddress, NegotiatedMedia } from '../../telephony/carrier.ts'
import type {
  ConversationPlan,
  MediaEvent,
  MediaReport,
  RecordingTarget,
} from './media-protocol.ts'

/** Where the live half of a call runs. `MediaWorkerPool` implements it with worker threads. */
export interface MediaPlane {
  /** Binds an RTP socket for the call. Throws `MediaUnavailableError` when no worker has room for another call. */
  open(callId: string): Promise<MediaCall>
}

/** One call in a media worker, seen from the main thread. */
export interface MediaCall {
  /** Goes into the SDP offer. */
  readonly localMedia: MediaAddress
  /** Opens the engine's session while the phone rings. A failure arrives as a `breakdown` event. */
  prepare(plan: ConversationPlan): void
  /** The phone was answered: RTP, recording and conversation begin. Without a target nothing is recorded. */
  start(media: NegotiatedMedia, recording: RecordingTarget | undefined): void
  updateMedia(media: NegotiatedMedia): void
  /** A key reported by signalling. */
  pressed(digit: string): void
  /** Mu-law of a browser's microphone; for calls on no other line. */
  hear(g711: Uint8Array): void
  /** Whether `words` events come while the agent speaks: they cost, so that they come only where someone reads them. */
  reportWords(isOn: boolean): void
  /** Whether `sound` events come, of what both sides hear. The call's own timing does not depend on them. */
  passSound(isOn: boolean): void
  /** Settles a `transfer` event. */
  transferSettled(result: TransferResult): void
  /** At most one listener; earlier events are delivered at once. */
  onEvent(listener: (event: MediaEvent) => void): void
  /** Flushes last words and recording, frees the socket. Resolves within `mediaStopLimitMs`; safe twice. */
  stop(): Promise<MediaReport>
}

/** No media worker has room for another call now: too many channels, late ticks, or no free port. */
export class MediaUnavailableError extends Error {
  override name = 'MediaUnavailableError'
}

/** How long a worker may take to flush a call. */
export const mediaStopLimitMs = 5_000

/** The known facts of a call whose worker died, or did not respond in time. */
export const lostMediaReport = (recordingPath: string | undefined): MediaReport => ({
  durationMs: undefined,
  recordingPath,
  framesLost: 0,
  usage: undefined,
  reportedOutcome: undefined,
  rtp: { packetsSent: 0, packetsReceived: 0, packetsLost: 0 },
  quality: [],
})
