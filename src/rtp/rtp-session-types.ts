import type { G711Codec } from '../audio/g711.ts'
import type { OtherSources } from './latch.ts'

/** One call's audio on the wire. `openRtpSession` (rtp-session.ts) makes one. */
export interface RtpSession {
  /** Where the socket listens, for the SDP offer. */
  readonly address: string
  readonly port: number
  /**
   * Says where to send and what was agreed. May be called again after a re-INVITE: a changed remote address starts
   * latching anew, the same one keeps it.
   */
  connect(media: RtpMedia): void
  /**
   * Sends 20 ms: 160 bytes in the negotiated codec. Never waits. Before `connect`, and while the direction forbids
   * sending, only the clock moves. While DTMF is being sent, its packets go out in place of the frame.
   */
  send(frame: Uint8Array): void
  /**
   * The next 20 ms of what the other side says: 160 bytes in the negotiated codec, concealment or silence where nothing
   * came. To be called exactly once per tick: it is the session's clock, RTCP included. The bytes are the caller's to
   * keep, and not to change.
   */
  receive(): Uint8Array
  /** Queues digits (0-9 * # A-D; others are skipped): RFC 4733 events, or tones in the audio where the peer takes none. */
  sendDtmf(digits: string): void
  /** Called once per digit pressed on the other side. */
  onDigit(listener: (digit: string) => void): void
  setDirection(direction: MediaDirection): void
  stats(): RtpStats
  /** Sends RTCP BYE and frees both ports. Safe twice. */
  close(): Promise<void>
}

export interface RtpMedia {
  readonly remote: { readonly address: string; readonly port: number }
  /** Whose packets may be the call's beside those of `remote`'s address; none without it. */
  readonly otherSources?: OtherSources
  readonly codec: G711Codec
  readonly payloadType: number
  /** RFC 4733 payload type, where the peer takes one. */
  readonly telephoneEventPayloadType?: number
}

/** As seen from us (RFC 3264 section 5.1). */
export type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

export interface RtpSessionOptions {
  readonly bindAddress: string
  /** Even ports of this range carry RTP, the odd one above each carries RTCP (RFC 3550 section 11). */
  readonly portRange: { readonly min: number; readonly max: number }
  /** `off` opens no second socket. Default `on`. */
  readonly rtcp?: 'on' | 'off'
  /** RTCP CNAME; a random one by default, so that calls cannot be linked (RFC 7022). */
  readonly cname?: string
}

/** Counts since the session opened; milliseconds where named so. */
export interface RtpStats {
  readonly packetsSent: number
  readonly packetsReceived: number
  /** By sequence numbers (RFC 3550 A.3); duplicates can make up for losses, so it may be an underestimate. */
  readonly packetsLost: number
  /** Arrived after their time to be played, thrown away. */
  readonly packetsLate: number
  readonly packetsDuplicate: number
  readonly packetsReordered: number
  /** From a source that is not the latched one. */
  readonly packetsForeign: number
  /** Not RTP, or of a payload type nobody agreed on. */
  readonly packetsMalformed: number
  /** 20 ms frames that had to be made up while the other side was talking. */
  readonly framesConcealed: number
  /** Times the playout started afresh: new SSRC, timestamp jump. */
  readonly resyncs: number
  readonly sendErrors: number
  /** Interarrival jitter (RFC 3550 6.4.1). */
  readonly jitterMs: number
  /** How long a packet now waits before it is played. */
  readonly playoutDelayMs: number
  /** Ticks × 20 ms since the last packet of the source; since `connect` where none came yet. For the media watchdog. */
  readonly silentForMs: number
  /** The source packets are taken from, once latched. */
  readonly source?: { readonly address: string; readonly port: number }
  /** What the other side's last RTCP report said of our packets. */
  readonly reported?: RtcpFeedback
}

export interface RtcpFeedback {
  /** 0 to 1, since its report before. */
  readonly fractionLost: number
  readonly packetsLost: number
  readonly jitterMs: number
  readonly roundTripMs?: number
}
