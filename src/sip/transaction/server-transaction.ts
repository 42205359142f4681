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
  readonly timing: TransactionTiming
  readonly time: Time
  readonly onTerminated: () => void
}

/** What the transaction user sees of either kind of server transaction. */
export interface ServerTransaction {
  readonly request: SipRequest
  /** Sends a response; after a final one nothing more is sent but its repetitions. */
  respond(response: SipResponse): void
  /** A request of this transaction came again, or its ACK. */
  receive(request: SipRequest): void
  terminate(): void
}

/** Answers a transaction with a bare response. */
export const respond = (
  transaction: ServerTransaction,
  status: number,
  headers: readonly Header[] = [],
): void => {
  transaction.respond(createResponse(transaction.request, status, { headers }))
}
