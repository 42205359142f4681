import type { Dialog } from '../dialog/dialog.ts'
import type { DigestPolicy } from '../digest/digest-policy.ts'
import type { OutsideRequest, OutsideResult } from './outside-request.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import type { MessageTrace } from '../transaction/message-traces.ts'
import type { Source } from '../transport/transport.ts'

/** The SIP functions for the rest of the product. `createUserAgent` (user-agent.ts) creates one. */
export interface UserAgent {
  start(): Promise<void>
  /** Ends every transaction and dialog (BYE or CANCEL, at most `graceMs`) and closes the sockets. */
  stop(graceMs?: number): Promise<void>
  /** Bound UDP port, after start. */
  readonly localPort: number
  /** Bound port of TLS, after start; 0 without a certificate. */
  readonly tlsPort: number
  /**
   * UAC: one INVITE (RFC 3261 13.2). Digest challenges and 422 are handled inside. Never rejects for network facts.
   */
  invite(options: InviteOptions, signal: AbortSignal): Promise<InviteResult>
  /**
   * OPTIONS to a target: resolves with any final response, or `undefined` when none came. `onTransportError` gets
   * the reason why the request could not be delivered.
   */
  ping(
    target: string,
    timeoutMs: number,
    onTransportError?: (error: Error) => void,
  ): Promise<SipResponse | undefined>
  /** Our address towards a target, as in Contact. Rejects if the target has no address. */
  localHostFor(target: string): Promise<string>
  /**
   * Our address and port as the target sees them through a NAT, once it sent a response; `undefined` where it sees our
   * own. Rejects if the target has no address.
   */
  viewFrom(target: string): Promise<string | undefined>
  /** Our Contact towards a target, without parameters; a stream is connected for it. Rejects if that is impossible. */
  contactFor(target: string): Promise<string>
  /** A request outside of dialogs, such as REGISTER. Digest challenges are handled inside. Never rejects. */
  request(request: OutsideRequest): Promise<OutsideResult>
  /** UAS: called for every new INVITE outside a dialog. Without a handler they get 403. */
  onInvite(handler: (incoming: IncomingInvite) => void): void
}

export interface InviteOptions {
  /** Request-URI, e.g. `sip:+12025550100@127.0.0.1:5070`. */
  readonly target: string
  /** From URI, and To URI if it differs from the target. */
  readonly from: string
  readonly to?: string
  /** Preloaded route set: the INVITE goes to the first (RFC 3261 8.1.1.1). By default it goes to the target. */
  readonly routes?: readonly string[]
  /** Hosts that a 3xx may lead to, with the same number; by default a 3xx ends the call. */
  readonly redirectHosts?: readonly string[]
  readonly offer: string
  readonly ringTimeoutMs: number
  /** How long to wait for the first response; 64 × T1 (32 s) by default. Then nothing more is sent. */
  readonly responseTimeoutMs?: number
  readonly credentials?: { readonly username: string; readonly password: string }
  /** Credentials of the target's trunk; by default they go only to the first hop, by MD5 with qop at least. */
  readonly digestPolicy?: DigestPolicy
  readonly headers?: Readonly<Record<string, string>>
  /** Called right before each INVITE is written to the socket; `false` for the first gives `not_sent`. */
  readonly maySend?: () => boolean
  readonly onProvisional?: (response: SipResponse) => void
  /** Sees every message of the call, its dialog included. */
  readonly trace?: MessageTrace
  /**
   * An UPDATE with an offer before the answer, after early media was negotiated: returns our answer, `undefined`
   * for 488.
   */
  readonly onEarlyOffer?: (offer: string) => string | undefined
}

export type InviteResult =
  | { readonly kind: 'answered'; readonly dialog: Dialog; readonly response: SipResponse }
  | {
      readonly kind: 'refused'
      readonly response: SipResponse
      readonly rang: boolean
      /** The refused INVITE carried the answer to a challenge. */
      readonly isAuthorized?: true
    }
  | { readonly kind: 'ring_timeout'; readonly rang: boolean; readonly response?: SipResponse }
  | { readonly kind: 'cancelled'; readonly rang: boolean; readonly invited: boolean }
  | {
      readonly kind: 'unreachable'
      readonly reason: string
      readonly rang: boolean
      /** Whether an INVITE was written at all. */
      readonly invited: boolean
    }
  | { readonly kind: 'not_sent' }

export interface IncomingInvite {
  readonly request: SipRequest
  /** Where it came from. */
  readonly source: Source
  readonly offer: string | undefined
  /** The user agent itself sends 100. */
  provisional(status: number, reason: string, options?: { sdp?: string }): void
  /** 200 with our SDP; resolves with the dialog once ACK came, `undefined` when it never came or CANCEL won. */
  accept(sdp: string): Promise<Dialog | undefined>
  reject(status: number, reason: string, headers?: Readonly<Record<string, string>>): void
  /** Called when the caller cancelled before our final response; the user agent itself sends 487. */
  readonly cancelled: AbortSignal
}
