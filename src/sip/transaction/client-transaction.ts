import type { SipMessage, SipRequest, SipResponse } from '../message/message.ts'
import type { Time } from '../../runtime/time.ts'
import type { TransactionTiming } from './transaction-timing.ts'

/** What a client transaction needs from the layer below: a bound path to its destination, and time. */
export interface ClientTransactionOptions {
  /** Complete, with its own Via on top. */
  readonly request: SipRequest
  /** Writes to the destination of the request; rejects when the transport refuses. */
  readonly send: (message: SipMessage) => Promise<void>
  /**
   * Uses another connection from the next `send` on if nothing came on the present one since that instant. Streams
   * only.
   */
  readonly renew: (sinceMs: number) => Promise<boolean>
  /** Whether the transport itself repeats lost bytes. */
  readonly isReliable: boolean
  readonly timing: TransactionTiming
  readonly time: Time
  readonly listener: ClientTransactionListener
}

/** What a client transaction reports to the transaction user. Exactly one comes: a failure or a final response. */
export interface ClientTransactionListener {
  readonly onResponse: (response: SipResponse) => void
  /** No (final) response in time: timer B or F. */
  readonly onTimeout: () => void
  readonly onTransportError: (error: Error) => void
  readonly onTerminated?: () => void
}

/**
 * How long the first response to a request on a stream may take before the connection counts as dead, and the same
 * bytes are sent on a new one. A server that has them takes the copy as a repetition (RFC 3261 17.2.3).
 */
export const silentConnectionMs = 4000

/** Copies of one request that follow a lost connection. */
export const maxConnectionsOfOneRequest = 3

export type TransactionEvent =
  | { readonly kind: 'response'; readonly response: SipResponse }
  | { readonly kind: 'timer'; readonly timer: 'retransmit' | 'timeout' | 'linger' }
  | { readonly kind: 'transport_error'; readonly error: Error }
