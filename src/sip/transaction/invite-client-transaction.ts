import {
  maxConnectionsOfOneRequest,
  silentConnectionMs,
  type ClientTransactionOptions,
  type TransactionEvent,
} from './client-transaction.ts'
import {
  emptyBody,
  headerOf,
  type Header,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { cseqOf } from '../message/headers.ts'
import { createTimers, type Timers } from './timers.ts'
import { transactionTimeoutMs } from './transaction-timing.ts'

// How long a non-2xx is acknowledged again on an unreliable transport (RFC 3261 17.1.1.2).
const timerDMs = 32_000

/** INVITE client transaction: RFC 3261 17.1.1 with the Accepted state of RFC 6026 7.2. */
export class InviteClientTransaction {
  state: 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated' = 'calling'
  readonly #options: ClientTransactionOptions
  readonly #timers: Timers<'retransmit' | 'timeout' | 'linger' | 'silence'>
  #retransmitMs: number
  #hasLeft = false
  #copies = 0
  #copiesUnderWay = 0
  /** Why a repetition could not be delivered. */
  #refusal: Error | undefined

  constructor(options: ClientTransactionOptions) {
    this.#options = options
    this.#timers = createTimers(options.time)
    this.#retransmitMs = options.timing.t1Ms
  }

  get request(): SipRequest {
    return this.#options.request
  }

  /**
   * False: no copy was delivered, so no phone rings. What a stream accepted may have arrived, whatever happened to the
   * stream, unless its other end refused the handshake.
   */
  get hasLeft(): boolean {
    return this.#hasLeft || (this.#options.isReliable && this.#copiesUnderWay > 0)
  }

  /** Sends the INVITE and starts timers A (unreliable transports only) and B. */
  start(): void {
    this.#transmit(this.request)
    if (!this.#options.isReliable) this.#armRetransmission()
    else this.#suspectSilence()
    this.#arm('timeout', transactionTimeoutMs(this.#options.timing))
  }

  receive(response: SipResponse): void {
    this.#handle({ kind: 'response', response })
  }

  /** This INVITE is abandoned: a copy that arrived already may still get a response, no further one is sent. */
  stopRetransmitting(): void {
    this.#timers.clear('retransmit')
    this.#timers.clear('silence')
    this.#copies = maxConnectionsOfOneRequest
  }

  /** Its connection ended: without a response, the same INVITE goes over a new one. `isUnread`: it had no reader. */
  connectionLost(error: Error, isUnread: boolean): void {
    if (this.state !== 'calling') return
    if (isUnread && this.#copies <= 1) {
      this.#hasLeft = false
      this.#copiesUnderWay = 0
      return this.#fail(error)
    }
    if (this.#copies < maxConnectionsOfOneRequest) this.#transmit(this.request)
    else this.#awaitLastAnswer(error)
  }

  // On a stream only. The old connection may still bring a response.
  #suspectSilence(): void {
    const sentAtMs = performance.now()
    this.#timers.set('silence', silentConnectionMs, () => {
      void this.#options.renew(sentAtMs).then((isRenewed) => {
        if (isRenewed && this.state === 'calling' && this.#copies < maxConnectionsOfOneRequest)
          this.#transmit(this.request)
      })
    })
  }

  terminate(): void {
    if (this.state === 'terminated') return
    this.state = 'terminated'
    this.#timers.clearAll()
    this.#options.listener.onTerminated?.()
  }

  #handle(event: TransactionEvent): void {
    switch (this.state) {
      case 'calling':
        return this.#calling(event)
      case 'proceeding':
        return this.#proceeding(event)
      case 'completed':
        return this.#completed(event)
      case 'accepted':
        return this.#accepted(event)
      case 'terminated':
    }
  }

  // RFC 3261 17.1.1.2, Calling.
  #calling(event: TransactionEvent): void {
    if (event.kind === 'response') return this.#takeResponse(event.response)
    if (event.kind === 'transport_error')
      return this.#hasLeft ? this.#awaitLastAnswer(event.error) : this.#fail(event.error)
    if (event.timer === 'retransmit') {
      this.#transmit(this.request)
      this.#retransmitMs *= 2
      return this.#armRetransmission()
    }
    if (this.#refusal) return this.#fail(this.#refusal)
    this.terminate()
    this.#options.listener.onTimeout()
  }

  // A copy was delivered before one was refused. A socket reports the refusal before the responses that it already
  // holds.
  #awaitLastAnswer(error: Error): void {
    this.#refusal = error
    this.#timers.clear('retransmit')
    this.#timers.clear('silence')
    this.#arm('timeout', this.#options.timing.t1Ms)
  }

  // RFC 3261 17.1.1.2, Proceeding: only responses matter; the transaction user limits the wait (13.3.1.1).
  #proceeding(event: TransactionEvent): void {
    if (event.kind === 'response') this.#takeResponse(event.response)
    if (event.kind === 'transport_error') this.#fail(event.error)
  }

  // RFC 3261 17.1.1.2, Completed: repeated finals are acknowledged again, and not reported again.
  #completed(event: TransactionEvent): void {
    if (event.kind === 'response' && event.response.status >= 300) this.#acknowledge(event.response)
    if (event.kind === 'timer' && event.timer === 'linger') this.terminate()
  }

  // RFC 6026 7.2, Accepted: every 2xx, repeated or forked, is reported; the transaction user acknowledges.
  #accepted(event: TransactionEvent): void {
    if (event.kind === 'response' && isSuccess(event.response))
      this.#options.listener.onResponse(event.response)
    if (event.kind === 'timer' && event.timer === 'linger') this.terminate()
  }

  #takeResponse(response: SipResponse): void {
    this.#timers.clearAll()
    if (response.status < 200) this.state = 'proceeding'
    else if (isSuccess(response)) this.#accept()
    else this.#complete(response)
    this.#options.listener.onResponse(response)
  }

  #accept(): void {
    this.state = 'accepted'
    // Timer M.
    this.#arm('linger', transactionTimeoutMs(this.#options.timing))
  }

  #complete(response: SipResponse): void {
    this.state = 'completed'
    this.#acknowledge(response)
    // Timer D only on unreliable transports: it absorbs repeated finals.
    this.#arm('linger', this.#options.isReliable ? 0 : timerDMs)
  }

  #acknowledge(response: SipResponse): void {
    this.#transmit(acknowledgement(this.request, response))
  }

  #fail(error: Error): void {
    this.terminate()
    this.#options.listener.onTransportError(error)
  }

  #transmit(message: SipRequest): void {
    this.#copies += 1
    this.#copiesUnderWay += 1
    this.#options.send(message).then(
      () => {
        this.#copiesUnderWay -= 1
        this.#hasLeft = true
      },
      (error: unknown) => {
        this.#copiesUnderWay -= 1
        this.#handle({ kind: 'transport_error', error: asError(error) })
      },
    )
  }

  #armRetransmission(): void {
    this.#arm('retransmit', this.#retransmitMs)
  }

  #arm(timer: 'retransmit' | 'timeout' | 'linger', delayMs: number): void {
    this.#timers.set(timer, delayMs, () => {
      this.#handle({ kind: 'timer', timer })
    })
  }
}

const isSuccess = ({ status }: SipResponse): boolean => status >= 200 && status < 300

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error))

/** The ACK of a final response other than 2xx: same branch, same route, the To of the response (RFC 3261 17.1.1.3). */
const acknowledgement = (invite: SipRequest, response: SipResponse): SipRequest => {
  const via = headerOf(invite, 'via') ?? ''
  const kept = invite.headers.filter(([name]) => ['route', 'from', 'call-id'].includes(name))
  const headers: Header[] = [
    ['via', via],
    ['max-forwards', '70'],
    ...kept,
    ['to', headerOf(response, 'to') ?? ''],
    ['cseq', `${cseqOf(invite).sequence} ACK`],
  ]
  return { kind: 'request', method: 'ACK', uri: invite.uri, headers, body: emptyBody }
}
