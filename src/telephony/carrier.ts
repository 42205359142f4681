import type { G711Codec } from '../audio/g711.ts'
import { maySend, type MediaDirection } from '../sdp/media-direction.ts'
import type { AgreedSrtp } from '../sdp/sdp.ts'

/**
 * The only interface between the product and the telephone network. The sandbox carrier and a real trunk are
 * reached through the same implementation; only the address differs.
 */
export interface Carrier {
  /**
   * Places one call. Resolves once, answered or failed; never rejects for a fact of the network.
   * Aborting the signal hangs up: CANCEL while ringing, ACK and BYE where a 200 crosses it (RFC 3261 9.1, 13.2.2.4).
   */
  dial(request: DialRequest, signal: AbortSignal): Promise<DialOutcome>
}

export interface DialRequest {
  readonly callId: string
  /** The callee's number, E.164 with `+`. */
  readonly to: string
  /** The number shown to the callee, E.164 with `+`. */
  readonly callerId: string
  readonly ringTimeoutMs: number
  /** The address of our RTP socket for this call; goes into the SDP offer. */
  readonly localMedia: MediaAddress
  /** Called right before the first INVITE is sent: `false` sends nothing (the lease was lost). */
  mayInvite(): boolean
  onProgress?(progress: DialProgress): void
  /** The trunk that was chosen for the call; undefined: the carrier has one only. */
  readonly trunk?: string | undefined
  /** Chooses another trunk after those that failed before a phone could ring; undefined: there is none. */
  nextTrunk?(tried: readonly string[]): Promise<string | undefined>
  /** Sees every SIP message of the call. */
  readonly trace?: DialTrace
}

/** One SIP message as it crossed the wire, masked: it may be kept and shown. */
export interface WireMessage {
  readonly direction: 'sent' | 'received'
  readonly protocol: 'udp' | 'tcp' | 'tls'
  /** Host and port: ours, and the other side's. */
  readonly local: string
  readonly remote: string
  readonly text: string
}

export interface DialTrace {
  add(message: WireMessage): void
  /** Aborted when there is no more to see. */
  readonly until: AbortSignal
}

export interface MediaAddress {
  readonly address: string
  readonly port: number
}

export type DialProgress = { readonly kind: 'trying' | 'ringing' | 'early_media' }

export type DialOutcome = (
  | { readonly kind: 'answered'; readonly leg: CallLeg }
  | { readonly kind: 'failed'; readonly failure: DialFailure }
) & {
  /** Each gateway that was tried, the last one decided. */
  readonly tries?: readonly GatewayTry[]
}

/** One gateway that was asked to carry the call. */
export interface GatewayTry {
  readonly trunk: string
  readonly gateway: string
  readonly startedAt: Date
  readonly endedAt: Date
  readonly sipStatus?: number
  /** One sentence. */
  readonly reason: string
  readonly invited: boolean
  readonly rang: boolean
}

export interface DialFailure {
  readonly cause: DialFailureCause
  /** Final SIP status, if the network sent one. */
  readonly sipStatus?: number
  /** One sentence for `outcome_reason`; for a SIP response it begins `SIP 404 Not Found`. */
  readonly reason: string
  /** Whether a 18x was seen, so that the phone may have rung. */
  readonly rang: boolean
  /** Whether an INVITE left the socket at all. */
  readonly invited: boolean
  /** The carrier's Retry-After, for `congestion`. */
  readonly retryAfterMs?: number
}

/** Decision D3: how the attempt ended, before it is mapped to a call state. */
export type DialFailureCause =
  | 'busy' // 486, 600, 603
  | 'no_answer' // ring timeout, 408, 480, 487 after our timeout
  | 'cancelled' // our signal was aborted
  | 'congestion' // 503, 500 with Retry-After, before any 18x
  | 'rejected' // 404, 410, 484, 604 and every other final refusal
  | 'authentication' // 401 or 407 after our credentials
  | 'no_route' // no response from the trunk, transport or resolver fault
  | 'media_mismatch' // 415, 488, 606, or an answer without a common codec
  | 'not_sent' // mayInvite() said no

/**
 * `auto`: telephone-event where the peer accepts it, else tones in the audio. `rfc4733` means the same here. `info`: SIP
 * INFO. `inband`: tones in the audio, whatever was negotiated.
 */
export type DtmfMode = 'auto' | 'rfc4733' | 'info' | 'inband'

/** The result of offer and answer (RFC 3264). */
export interface NegotiatedMedia {
  readonly remote: MediaAddress
  /** Further addresses that RTP may come from, or `any`; by default none. */
  readonly otherSources?: readonly string[] | 'any'
  readonly codec: G711Codec
  readonly payloadType: number
  /** RFC 4733 payload type, if the peer accepts one. */
  readonly telephoneEventPayloadType?: number
  /** The one of our own description: the peer sends keys with it. */
  readonly ownTelephoneEventPayloadType?: number
  /** Keys of SRTP; absent: the audio is not encrypted. Never logged. */
  readonly srtp?: AgreedSrtp
  /** How keys are sent and heard; by default `auto`. */
  readonly dtmf?: DtmfMode
  /** From our side: whether we may send, and should expect to receive. */
  readonly direction: MediaDirection
}

/** Whether the other side holds the line: it takes no audio from us, whatever it sends. */
export const isOnHold = ({ direction }: Pick<NegotiatedMedia, 'direction'>): boolean =>
  !maySend(direction)

/** An answered call. */
export interface CallLeg {
  readonly sipCallId: string
  readonly media: NegotiatedMedia
  /** Called when a re-INVITE or UPDATE changes the media (hold, resume, new address). */
  onMediaChange(listener: (media: NegotiatedMedia) => void): void
  /**
   * Called for each key that the callee's side reports by SIP INFO; where RTP carries keys they come only there.
   */
  onDigit(listener: (digit: string) => void): void
  /** Sends keys by SIP INFO, one after the other. Never rejects. */
  sendDigits(digits: string): Promise<void>
  /**
   * Asks the callee's side to call another party in our place (REFER, RFC 3515) and follows the result. One
   * transfer at a time. Never rejects, and never ends the call: after `transferred` the caller of this function
   * still hangs up.
   * @param to E.164 with `+`, reached through the same trunk, or a SIP address
   */
  transfer(to: string): Promise<TransferOutcome>
  /** Sends BYE and resolves when it has a response or timed out; safe twice. */
  hangUp(): Promise<void>
  /** Resolves once, when the dialog is over. */
  readonly ended: Promise<LegEnd>
}

export interface LegEnd {
  readonly by: 'us' | 'callee' | 'failure'
  readonly reason?: string
}

/** The result of a transfer. */
export type TransferOutcome =
  | { readonly kind: 'transferred' }
  | {
      readonly kind: 'refused'
      /** SIP status of the carrier, or of the target, if one came. */
      readonly sipStatus?: number
      /** One sentence; for a SIP response it begins `SIP 486 Busy Here`. */
      readonly reason: string
    }
