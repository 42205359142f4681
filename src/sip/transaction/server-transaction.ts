import type { Header, SipRequest, SipResponse } from '../message/message.ts'
import { createResponse } from '../message/responses.ts'
import type { Time } from '../../runtime/time.ts'
import type { TransactionTiming } from './transaction-timing.ts'

/** What a server transaction needs from below. */
export interface ServerTransactionOptions {
  readonly request: SipRequest
  /** Writes towards the sender of the request (RFC 3261 18.2.2, RFC 3581 4). */
  readonly send: (response: SipResponse) => Promise<void>
  readonly isReliable: boolean
  /**
   * The sender is known to read what we send: it is inside a dialog. Anybody can write another's address on a
   * datagram, and an address that asked for nothing must not get a refusal eleven times.
   */
  readonly isProven?: boolean
  readonly timing: TransactionTiming
  readonly time: Time
  readonly onTerminated: () => void
}

/** The transaction user's view of either kind of server transaction. */
export interface ServerTransaction {
  readonly request: SipRequest
  /** Sends a response; after a final one only its repetitions are sent. */
  respond(response: SipResponse): void
  /** A request of this transaction came again, or its ACK. */
  receive(request: SipRequest): void
  terminate(): void
}

/** Sends a bare response in a transaction. */
export const respond = (
  transaction: ServerTransaction,
  status: number,
  headers: readonly Header[] = [],
): void => {
  transaction.respond(createResponse(transaction.request, status, { headers }))
}
