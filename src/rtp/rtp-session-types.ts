import type { MediaDirection } from '../sdp/media-direction.ts'
import type { G711Codec } from '../audio/g711.ts'
import type { AgreedSrtp } from '../sdp/sdp.ts'
import type { OtherSources } from './latch.ts'

/** One call's audio on the wire. `openRtpSession` (rtp-session.ts) creates one. */
export interface RtpSession {
  /** The socket's address, for the SDP offer. */
  readonly address: string
  readonly port: number
  /**
   * Sets the remote address and the negotiated media. May be called again after a re-INVITE: a changed remote
   * address resets the latch, the same one keeps it.
   */
  connect(media: RtpMedia): void
  /**
   * Sends 20 ms: 160 bytes in the negotiated codec. Never waits. Before `connect`, and while the direction forbids
   * sending, only the clock advances. During DTMF its packets are sent instead of the frame.
   */
  send(frame: Uint8Array): void
  /**
   * The next 20 ms of the other side: 160 bytes in the negotiated codec, concealment or silence where nothing came.
   * Call it exactly once per tick: it is the session's clock, including RTCP. The caller may keep the bytes, but
   * not change them.
   */
  receive(): Uint8Array
  /**
   * Queues digits (0-9 * # A-D; others are skipped): RFC 4733 events, or tones in the audio if the peer accepts
   * none.
   */
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
  /** Further sources of the call's packets beside `remote`'s address; by default none. */
  readonly otherSources?: OtherSources
  readonly codec: G711Codec
  readonly payloadType: number
  /** RFC 4733 payload type, if the peer accepts one. */
  readonly telephoneEventPayloadType?: number
  /** The one of our own description, under which the peer sends keys; by default the same (RFC 3264 5.1). */
  readonly ownTelephoneEventPayloadType?: number
  /** Keys of SRTP; absent: packets are sent and taken as they are. */
  readonly srtp?: AgreedSrtp
}

export interface RtpSessionOptions {
  readonly bindAddress: string
  /** Even ports of this range carry RTP, the odd one above each carries RTCP (RFC 3550 section 11). */
  readonly portRange: { readonly min: number; readonly max: number }
  /** `off` opens no second socket. Default `on`. */
  readonly rtcp?: 'on' | 'off'
  /** RTCP CNAME; a random one by default, so that calls cannot be linked (RFC 7022). */
  readonly cname?: string
}

/** Counts since the session opened; milliseconds where the name says so. */
export interface RtpStats {
  readonly packetsSent: number
  readonly packetsReceived: number
  /** By sequence numbers (RFC 3550 A.3); duplicates can make up for losses, so it may be an underestimate. */
  readonly packetsLost: number
  /** Arrived after their playout time and were dropped. */
  readonly packetsLate: number
  readonly packetsDuplicate: number
  readonly packetsReordered: number
  /** From a source other than the latched one. */
  readonly packetsForeign: number
  /** Not RTP, or of a payload type that was not negotiated. */
  readonly packetsMalformed: number
  /** Under SRTP: not authentic, or received before. */
  readonly packetsUnauthentic: number
  /** 20 ms frames concealed while the other side was talking. */
  readonly framesConcealed: number
  /** Restarts of the playout: new SSRC, timestamp jump. */
  readonly resyncs: number
  readonly sendErrors: number
  /** Interarrival jitter (RFC 3550 6.4.1). */
  readonly jitterMs: number
  /** The present delay of a packet before it is played. */
  readonly playoutDelayMs: number
  /**
   * Ticks × 20 ms since the last packet or RTCP report of the source; since `connect` if none came yet. For the media
   * watchdog.
   */
  readonly silentForMs: number
  /** The same without the reports. */
  readonly withoutAudioMs: number
  /** The latched source of packets. */
  readonly source?: { readonly address: string; readonly port: number }
  /** The other side's last RTCP report about our packets. */
  readonly reported?: RtcpFeedback
}

export interface RtcpFeedback {
  /** 0 to 1, since its previous report. */
  readonly fractionLost: number
  readonly packetsLost: number
  readonly jitterMs: number
  readonly roundTripMs?: number
}
