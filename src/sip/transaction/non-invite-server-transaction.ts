import type { SipRequest, SipResponse } from '../message/message.ts'
import { createTimers, type Timers } from './timers.ts'
import type { ServerTransaction, ServerTransactionOptions } from './server-transaction.ts'
import { transactionTimeoutMs } from './transaction-timing.ts'

/** Server transaction of every request but INVITE and ACK: RFC 3261 17.2.2. */
export class NonInviteServerTransaction implements ServerTransaction {
  state: 'trying' | 'proceeding' | 'completed' | 'terminated' = 'trying'
  readonly #options: ServerTransactionOptions
  readonly #timers: Timers<'linger'>
  #last: SipResponse | undefined

  constructor(options: ServerTransactionOptions) {
    this.#options = options
    this.#timers = createTimers(options.time)
  }

  get request(): SipRequest {
    return this.#options.request
  }

  // RFC 3261 17.2.2: from Trying and Proceeding any response; the first final one completes.
  respond(response: SipResponse): void {
    if (this.state === 'completed' || this.state === 'terminated') return
    this.#transmit(response)
    if (response.status < 200) this.state = 'proceeding'
    else this.#complete()
  }

  // In Trying there is nothing to repeat yet; later the last response is sent again.
  receive(_repeated: SipRequest): void {
    if (this.state !== 'terminated' && this.#last !== undefined) this.#transmit(this.#last)
  }

  terminate(): void {
    if (this.state === 'terminated') return
    this.state = 'terminated'
    this.#timers.clearAll()
    this.#options.onTerminated()
  }

  #complete(): void {
    this.state = 'completed'
    // Timer J is 0 on reliable transports.
    const lingerMs = this.#options.isReliable ? 0 : transactionTimeoutMs(this.#options.timing)
    this.#timers.set('linger', lingerMs, () => {
      this.terminate()
    })
  }

  #transmit(response: SipResponse): void {
    this.#last = response
    // The client repeats its request if the response did not reach it.
    this.#options.send(response).catch(() => {})
  }
}
