import type { SipMessage, SipRequest, SipResponse } from '../message/message.ts'
import type { Time } from '../../runtime/time.ts'
import type { TransactionTiming } from './transaction-timing.ts'

/** What a client transaction needs from below: a bound way to its destination, and time. */
export interface ClientTransactionOptions {
  /** Complete, with its own Via on top. */
  readonly request: SipRequest
  /** Writes to the destination of the request; rejects when the transport refuses. */
  readonly send: (message: SipMessage) => Promise<void>
  /** Whether the transport repeats lost bytes itself. */
  readonly isReliable: boolean
  readonly timing: TransactionTiming
  readonly time: Time
  readonly listener: ClientTransactionListener
}

/** What a client transaction tells the transaction user. Exactly one of the failures, or a final response, comes. */
export interface ClientTransactionListener {
  readonly onResponse: (response: SipResponse) => void
  /** No (final) response in time: timer B or F. */
  readonly onTimeout: () => void
  readonly onTransportError: (error: Error) => void
  readonly onTerminated?: () => void
}

export type ClientEvent =
  | { readonly kind: 'response'; readonly response: SipResponse }
  | { readonly kind: 'timer'; readonly timer: 'retransmit' | 'timeout' | 'linger' }
  | { readonly kind: 'transport_error'; readonly error: Error }
