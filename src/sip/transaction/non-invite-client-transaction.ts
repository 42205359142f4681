import {
  maxConnectionsOfOneRequest,
  silentConnectionMs,
  type ClientTransactionOptions,
  type TransactionEvent,
} from './client-transaction.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { createTimers, type Timers } from './timers.ts'
import { transactionTimeoutMs } from './transaction-timing.ts'

/** Client transaction of every request but INVITE and ACK: RFC 3261 17.1.2. */
export class NonInviteClientTransaction {
  state: 'trying' | 'proceeding' | 'completed' | 'terminated' = 'trying'
  readonly #options: ClientTransactionOptions
  readonly #timers: Timers<'retransmit' | 'timeout' | 'linger' | 'silence'>
  #retransmitMs: number
  #copies = 0

  constructor(options: ClientTransactionOptions) {
    this.#options = options
    this.#timers = createTimers(options.time)
    this.#retransmitMs = options.timing.t1Ms
  }

  get request(): SipRequest {
    return this.#options.request
  }

  /** Sends the request and starts timers E (unreliable transports only) and F. */
  start(): void {
    this.#transmit()
    if (!this.#options.isReliable) this.#arm('retransmit', this.#retransmitMs)
    else this.#suspectSilence()
    this.#arm('timeout', transactionTimeoutMs(this.#options.timing))
  }

  /** Its connection ended: without a final response, the same request goes over a new one. */
  connectionLost(error: Error): void {
    if (this.state !== 'trying' && this.state !== 'proceeding') return
    if (this.#copies < maxConnectionsOfOneRequest) this.#transmit()
    else this.#handle({ kind: 'transport_error', error })
  }

  // On a stream only. The old connection may still bring a response.
  #suspectSilence(): void {
    const sentAtMs = performance.now()
    this.#timers.set('silence', silentConnectionMs, () => {
      void this.#options.renew(sentAtMs).then((isRenewed) => {
        if (isRenewed && this.state === 'trying' && this.#copies < maxConnectionsOfOneRequest)
          this.#transmit()
      })
    })
  }

  receive(response: SipResponse): void {
    this.#handle({ kind: 'response', response })
  }

  terminate(): void {
    if (this.state === 'terminated') return
    this.state = 'terminated'
    this.#timers.clearAll()
    this.#options.listener.onTerminated?.()
  }

  #handle(event: TransactionEvent): void {
    switch (this.state) {
      case 'trying':
        return this.#trying(event)
      case 'proceeding':
        return this.#proceeding(event)
      case 'completed':
        return this.#completed(event)
      case 'terminated':
    }
  }

  // RFC 3261 17.1.2.2, Trying: timer E doubles up to T2.
  #trying(event: TransactionEvent): void {
    if (event.kind === 'timer' && event.timer === 'retransmit') {
      this.#retransmitMs = Math.min(2 * this.#retransmitMs, this.#options.timing.t2Ms)
      return this.#retransmit()
    }
    this.#awaitFinal(event)
  }

  // RFC 3261 17.1.2.2, Proceeding: timer E is T2.
  #proceeding(event: TransactionEvent): void {
    if (event.kind === 'timer' && event.timer === 'retransmit') {
      this.#retransmitMs = this.#options.timing.t2Ms
      return this.#retransmit()
    }
    this.#awaitFinal(event)
  }

  // RFC 3261 17.1.2.2, Completed: timer K buffers repeated finals.
  #completed(event: TransactionEvent): void {
    if (event.kind === 'timer' && event.timer === 'linger') this.terminate()
  }

  #awaitFinal(event: TransactionEvent): void {
    if (event.kind === 'response') return this.#takeResponse(event.response)
    this.terminate()
    if (event.kind === 'transport_error')
      return this.#options.listener.onTransportError(event.error)
    this.#options.listener.onTimeout()
  }

  #takeResponse(response: SipResponse): void {
    if (response.status < 200) this.state = 'proceeding'
    else {
      this.state = 'completed'
      this.#timers.clearAll()
      // Timer K is 0 on reliable transports.
      this.#arm('linger', this.#options.isReliable ? 0 : this.#options.timing.t4Ms)
    }
    this.#options.listener.onResponse(response)
  }

  #retransmit(): void {
    this.#transmit()
    this.#arm('retransmit', this.#retransmitMs)
  }

  #transmit(): void {
    this.#copies += 1
    this.#options.send(this.request).catch((error: unknown) => {
      const cause = error instanceof Error ? error : new Error(String(error))
      this.#handle({ kind: 'transport_error', error: cause })
    })
  }

  #arm(timer: 'retransmit' | 'timeout' | 'linger', delayMs: number): void {
    this.#timers.set(timer, delayMs, () => {
      this.#handle({ kind: 'timer', timer })
    })
  }
}
