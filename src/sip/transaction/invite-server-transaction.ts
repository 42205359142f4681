import type { SipRequest, SipResponse } from '../message/message.ts'
import { createTimers, type Timers } from './timers.ts'
import type { ServerTransaction, ServerTransactionOptions } from './server-transaction.ts'
import { transactionTimeoutMs } from './transaction-timing.ts'

type Event =
  | { readonly kind: 'request'; readonly request: SipRequest }
  | { readonly kind: 'respond'; readonly response: SipResponse }
  | { readonly kind: 'timer'; readonly timer: 'retransmit' | 'timeout' | 'linger' }

/**
 * INVITE server transaction: RFC 3261 17.2.1 with the Accepted state of RFC 6026 7.1. The transaction user repeats its
 * own 2xx (RFC 3261 13.3.1.4).
 */
export class InviteServerTransaction implements ServerTransaction {
  state: 'proceeding' | 'completed' | 'confirmed' | 'accepted' | 'terminated' = 'proceeding'
  readonly #options: ServerTransactionOptions
  readonly #timers: Timers<'retransmit' | 'timeout' | 'linger'>
  #last: SipResponse | undefined
  /** A provisional response went out: the caller waits, and repeats nothing. */
  #isTaken = false
  #retransmitMs: number

  constructor(options: ServerTransactionOptions) {
    this.#options = options
    this.#timers = createTimers(options.time)
    this.#retransmitMs = options.timing.t1Ms
  }

  get request(): SipRequest {
    return this.#options.request
  }

  respond(response: SipResponse): void {
    this.#handle({ kind: 'respond', response })
  }

  receive(request: SipRequest): void {
    this.#handle({ kind: 'request', request })
  }

  terminate(): void {
    if (this.state === 'terminated') return
    this.state = 'terminated'
    this.#timers.clearAll()
    this.#options.onTerminated()
  }

  #handle(event: Event): void {
    switch (this.state) {
      case 'proceeding':
        return this.#proceeding(event)
      case 'completed':
        return this.#completed(event)
      case 'confirmed':
        return this.#confirmed(event)
      case 'accepted':
        return this.#accepted(event)
      case 'terminated':
    }
  }

  // RFC 3261 17.2.1, Proceeding: a repeated INVITE gets the last provisional response again.
  #proceeding(event: Event): void {
    if (event.kind === 'request' && event.request.method === 'INVITE') this.#repeat()
    if (event.kind !== 'respond') return
    this.#transmit(event.response)
    if (event.response.status < 200) return
    if (event.response.status < 300) this.#accept()
    else this.#complete()
  }

  // RFC 3261 17.2.1, Completed: timer G repeats the final response, timer H ends the wait for the ACK.
  #completed(event: Event): void {
    if (event.kind === 'respond') return
    if (event.kind === 'request') {
      if (event.request.method === 'ACK') return this.#confirm()
      return this.#repeat()
    }
    if (event.timer === 'timeout') return this.terminate()
    this.#repeat()
    this.#retransmitMs = Math.min(2 * this.#retransmitMs, this.#options.timing.t2Ms)
    this.#arm('retransmit', this.#retransmitMs)
  }

  // RFC 3261 17.2.1, Confirmed: timer I absorbs repeated ACKs.
  #confirmed(event: Event): void {
    if (event.kind === 'timer' && event.timer === 'linger') this.terminate()
  }

  // RFC 6026 7.1, Accepted: repeated INVITEs are absorbed, 2xx of the transaction user pass, timer L ends it.
  #accepted(event: Event): void {
    if (event.kind === 'respond' && isSuccess(event.response)) this.#transmit(event.response)
    if (event.kind === 'timer' && event.timer === 'linger') this.terminate()
  }

  #accept(): void {
    this.state = 'accepted'
    this.#arm('linger', transactionTimeoutMs(this.#options.timing))
  }

  #complete(): void {
    this.state = 'completed'
    // Without a provisional response a caller repeats its INVITE, and so asks for the final one again (8.2.7).
    const { isReliable, isProven = true } = this.#options
    if (!isReliable && (isProven || this.#isTaken)) this.#arm('retransmit', this.#retransmitMs)
    this.#arm('timeout', transactionTimeoutMs(this.#options.timing))
  }

  #confirm(): void {
    this.state = 'confirmed'
    this.#timers.clearAll()
    this.#arm('linger', this.#options.isReliable ? 0 : this.#options.timing.t4Ms)
  }

  #transmit(response: SipResponse): void {
    this.#last = response
    if (response.status < 200) this.#isTaken = true
    // The caller notices a lost connection: no ACK comes, and the dialog or timer H ends it.
    this.#options.send(response).catch(() => {})
  }

  #repeat(): void {
    if (this.#last !== undefined) this.#transmit(this.#last)
  }

  #arm(timer: 'retransmit' | 'timeout' | 'linger', delayMs: number): void {
    this.#timers.set(timer, delayMs, () => {
      this.#handle({ kind: 'timer', timer })
    })
  }
}

const isSuccess = ({ status }: SipResponse): boolean => status >= 200 && status < 300
