import { isDeepStrictEqual } from 'node:util'
import { allowedMethods, type AgentContext } from './agent-context.ts'
import { contactHeader } from '../transaction/hop.ts'
import { acknowledge, createDialogClient, type DialogClient } from './dialog-client.ts'
import { callerRouteSet, contactOf, type DialogState } from './dialog-state.ts'
import { createDigestClient, type DigestClient } from '../digest/digest.ts'
import { cseqOf } from '../message/headers.ts'
import {
  bodyText,
  headerOf,
  listsToken,
  type Header,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { createOfferAnswer, type OfferAnswer } from './offer-answer.ts'
import { extensionRefusalOf } from './extension-refusal.ts'
import { createResponse } from '../message/responses.ts'
import { respond, type ServerTransaction } from '../transaction/server-transaction.ts'
import {
  createSessionTimer,
  isTooBrief,
  refreshHeaders,
  termsHeaders,
  termsOfAnswer,
  termsOfRequest,
  type SessionTimer,
} from './session-timer.ts'
import { createSuccessRepeater, type SuccessRepeater } from './success-repeater.ts'
import type { Source } from '../transport/transport.ts'
import type { Dialog, DialogMethod } from './dialog.ts'

interface InviteDialogOptions {
  readonly state: DialogState
  readonly remoteSdp: string
  readonly digest?: DigestClient
  /** The address with which the dialog is made: it may always send for it. */
  readonly firstHop?: string | undefined
}

type EndedBy = 'local' | 'remote' | 'failure'

// Attempts of one re-INVITE that keeps colliding with the other side's (RFC 3261 14.1).
const maxGlareTries = 4

/** Together a minute: then the media's own watchdog decides. */
const maxContactTries = 12
const contactPauseMs = 5000

/** One INVITE dialog of either role, from its first tagged response to the end of its BYE (RFC 3261 12 to 15). */
export class InviteDialog implements Dialog {
  readonly state: DialogState
  readonly ended: Promise<{ readonly by: EndedBy; readonly reason?: string }>
  readonly firstHop: string | undefined
  remoteSdp: string
  readonly #context: AgentContext
  readonly #client: DialogClient
  readonly #digest: DigestClient
  readonly #offers: OfferAnswer
  readonly #repeater: SuccessRepeater
  readonly #sessionTimer: SessionTimer
  readonly #finish: (end: { readonly by: EndedBy; readonly reason?: string }) => void
  readonly #listeners = new Map<string, (request: SipRequest) => number>()
  #isOver = false
  #byeDone: Promise<void> | undefined
  #acknowledged: Promise<void> = Promise.resolve()
  #localSdp = ''
  #peerTakesUpdate = false
  #isConfirmed = false
  #isUpdatedEarly = false

  constructor(context: AgentContext, options: InviteDialogOptions) {
    this.#context = context
    this.state = options.state
    this.remoteSdp = options.remoteSdp
    this.firstHop = options.firstHop
    const { promise, resolve } = Promise.withResolvers<{ by: EndedBy; reason?: string }>()
    this.ended = promise
    this.#finish = resolve
    this.#digest = options.digest ?? createDigestClient(undefined)
    this.#client = createDialogClient(context, options.state, this.#digest)
    this.#offers = createOfferAnswer()
    this.#repeater = createSuccessRepeater(context.time, context.timing)
    this.#sessionTimer = createSessionTimer(context.time, {
      refresh: () => void this.#refresh(),
      expire: () => void this.#hangUpForFailure('the session timer expired'),
    })
    context.dialogs.add(this.state, this, options.firstHop)
  }

  get sipCallId(): string {
    return this.state.sipCallId
  }

  get isOver(): boolean {
    return this.#isOver
  }

  onOffer(listener: (offer: string) => string | undefined): void {
    this.#offers.onOffer = listener
  }

  onOfferRequest(listener: () => string, onAnswer: (answer: string) => void): void {
    this.#offers.onOfferRequest = listener
    this.#offers.onAnswer = onAnswer
  }

  onRequest(method: DialogMethod, listener: (request: SipRequest) => number): void {
    this.#listeners.set(method, listener)
  }

  async request(
    method: string,
    options: { headers?: Readonly<Record<string, string>>; body?: string },
  ): Promise<SipResponse | undefined> {
    const response = await this.#client.request(method, {
      headers: toHeaders(options.headers),
      ...(options.body === undefined ? {} : { body: options.body }),
    })
    // The other side no longer knows this dialog (RFC 3261 12.2.1.2).
    if (response?.status === 481 && method !== 'PRACK') this.#end('failure', 'SIP 481')
    return response
  }

  /**
   * Sends a re-INVITE with an offer, again after a pause if it crosses the other side's (491). Resolves with the
   * final response, `undefined` on time-out.
   */
  async reinvite(offer: string): Promise<SipResponse | undefined> {
    for (let tries = 1; ; tries += 1) {
      const response = await this.#offerOnce(offer)
      if (response?.status !== 491 || tries === maxGlareTries || this.#isOver) return response
      await this.#glarePause()
    }
  }

  /** A target refresh: without it the other side's requests go to a connection that is gone (RFC 3261 12.2.1). */
  renewContact(address: string): void {
    if (this.firstHop === address && this.#isConfirmed) void this.#renewContact(maxContactTries)
  }

  bye(headers?: Readonly<Record<string, string>>): Promise<void> {
    this.#byeDone ??= this.#bye(toHeaders(headers), 'local')
    return this.#byeDone
  }

  /** The caller's dialog is confirmed: this 2xx to `invite` answered our offer. */
  confirmAsCaller(invite: SipRequest, response: SipResponse): void {
    this.#follow(response, callerRouteSet(response))
    // An UPDATE came after the answer: what the 200 repeats is older (RFC 6337 3.1.1).
    if (!this.#isUpdatedEarly) {
      this.#localSdp = bodyText(invite)
      if (response.body.length > 0) this.remoteSdp = bodyText(response)
    }
    this.#isConfirmed = true
    this.#notePeer(response)
    this.#sessionTimer.restart(termsOfAnswer(response, this.#context.sessionTimer))
    this.acknowledge(invite)
  }

  /** Sends the ACK of a 2xx to `invite`, once more for each repetition. */
  acknowledge(invite: SipRequest): void {
    const parts = { context: this.#context, state: this.state, digest: this.#digest }
    this.#acknowledged = acknowledge(parts, invite)
  }

  /** The callee's dialog: repeats our 2xx until the ACK. Resolves with `false` when none came. */
  async confirmAsCallee(transaction: ServerTransaction, success: SipResponse): Promise<boolean> {
    this.#localSdp = bodyText(success)
    this.#isConfirmed = true
    this.#notePeer(transaction.request)
    this.#sessionTimer.restart(termsOfRequest(transaction.request, this.#context.sessionTimer))
    return this.#repeatUntilAcknowledged(transaction, success)
  }

  /** An ACK to one of our 2xx; with SDP it answers an offer we made there. */
  receiveAck(ack: SipRequest): void {
    if (!this.#repeater.acknowledge(cseqOf(ack).sequence) || ack.body.length === 0) return
    this.remoteSdp = bodyText(ack)
    this.#offers.takeAnswer(this.remoteSdp)
  }

  /** A request inside this dialog. */
  receive(transaction: ServerTransaction, source: Source): void {
    const { request } = transaction
    const { sequence } = cseqOf(request)
    // RFC 3261 12.2.2: older than an earlier one.
    if (sequence <= this.state.remoteSequence) return respond(transaction, 500)
    this.state.remoteSequence = sequence
    const refusal = extensionRefusalOf(request)
    if (refusal !== undefined) return respond(transaction, refusal.status, refusal.headers)
    const listener = this.#listeners.get(request.method)
    if (listener !== undefined) return respond(transaction, listener(request))
    switch (request.method) {
      case 'BYE':
        return this.#receiveBye(transaction)
      case 'INVITE':
      case 'UPDATE':
        return this.#receiveOffer(transaction, source)
      case 'INFO':
      case 'NOTIFY':
      case 'OPTIONS':
        return respond(transaction, 200)
      case 'PRACK':
        return respond(transaction, 481)
      default:
        return respond(transaction, 405, [['allow', allowedMethods]])
    }
  }

  /** Drops the dialog without a message to the other side: an early one that was not chosen, or at shutdown. */
  abandon(): void {
    this.#end('failure', 'the dialog was abandoned')
  }

  #receiveBye(transaction: ServerTransaction): void {
    respond(transaction, 200)
    this.#repeater.confirm()
    const reason = headerOf(transaction.request, 'reason')
    this.#end('remote', reason)
  }

  /** Before an answer came, our own offer is still pending (RFC 3311 5.2). */
  get #isUnanswered(): boolean {
    return !this.#isConfirmed && this.remoteSdp === ''
  }

  /** A re-INVITE or UPDATE: a new offer, a request for ours, or only a refresh (RFC 3261 14.2, 3311 5.2, 4028 9). */
  #receiveOffer(transaction: ServerTransaction, source: Source): void {
    const { request } = transaction
    const isCrossing = this.#isUnanswered && request.body.length > 0
    if (this.#offers.isPending || isCrossing) return respond(transaction, 491)
    if (isTooBrief(request, this.#context.sessionTimer)) {
      return respond(transaction, 422, [['min-se', String(this.#context.sessionTimer.minSeconds)]])
    }
    const sdp = this.#offers.respondTo(request, this.#localSdp)
    if (sdp === undefined) return respond(transaction, 488)
    this.#follow(request)
    if (sdp !== '') this.#localSdp = sdp
    if (request.body.length > 0) {
      this.remoteSdp = bodyText(request)
      this.#isUpdatedEarly = !this.#isConfirmed
    }
    this.#accept(transaction, source, sdp).catch(() => {
      respond(transaction, 500)
    })
  }

  async #accept(transaction: ServerTransaction, source: Source, sdp: string): Promise<void> {
    const { request } = transaction
    const hop = await this.#context.signalling.hopTo(source)
    const terms = termsOfRequest(request, this.#context.sessionTimer)
    const success = createResponse(request, 200, {
      headers: [contactHeader(hop), ['allow', allowedMethods], ...termsHeaders(request, terms)],
      ...(sdp === '' ? {} : { body: sdp }),
    })
    this.#sessionTimer.restart(terms)
    if (request.method === 'UPDATE') transaction.respond(success)
    else await this.#repeatUntilAcknowledged(transaction, success)
  }

  async #repeatUntilAcknowledged(
    transaction: ServerTransaction,
    success: SipResponse,
  ): Promise<boolean> {
    const isAcknowledged = await this.#repeater.repeat(transaction, success)
    if (isAcknowledged) return true
    // RFC 3261 13.3.1.4: a 2xx that is never acknowledged ends the session with a BYE.
    await this.#hangUpForFailure('the 200 was never acknowledged')
    return false
  }

  async #offerOnce(offer: string): Promise<SipResponse | undefined> {
    const response = await this.#sendOffer(offer)
    this.#takeRefresh(response)
    return response
  }

  async #sendOffer(offer: string): Promise<SipResponse | undefined> {
    this.#offers.isPending = true
    try {
      const headers: Header[] = [
        ['allow', allowedMethods],
        ...refreshHeaders(this.#context.sessionTimer),
      ]
      const response = await this.#client.reinvite({
        headers: [...headers, ['content-type', 'application/sdp']],
        body: offer,
      })
      if (response !== undefined && isSuccess(response)) {
        this.#localSdp = offer
        this.remoteSdp = bodyText(response)
      }
      return response
    } finally {
      this.#offers.isPending = false
    }
  }

  /** RFC 3261 14.1: the owner of the Call-ID waits longer, so that the two do not collide again. */
  #glarePause(): Promise<void> {
    const delayMs = this.state.isCaller ? 2100 + Math.random() * 1900 : Math.random() * 2000
    return new Promise((resolve) => {
      this.#context.time.after(delayMs, resolve)
    })
  }

  /** Media does not need the signalling's connection: a server that is away for a while ends no call. */
  async #renewContact(triesLeft: number): Promise<void> {
    if (this.#isOver || this.#byeDone !== undefined) return
    const headers = refreshHeaders(this.#context.sessionTimer)
    const response = this.#peerTakesUpdate
      ? await this.#client.request('UPDATE', { headers })
      : await this.#sendOffer(this.#localSdp)
    if (response !== undefined && isSuccess(response)) return this.#takeRefresh(response)
    if ((response === undefined || response.status === 491) && triesLeft > 1)
      this.#context.time.after(contactPauseMs, () => void this.#renewContact(triesLeft - 1))
  }

  /** RFC 4028 10: UPDATE if the peer supports it, because it needs no SDP; else a re-INVITE with the known SDP. */
  async #refresh(): Promise<void> {
    if (!this.#peerTakesUpdate) return void (await this.reinvite(this.#localSdp))
    const headers = refreshHeaders(this.#context.sessionTimer)
    this.#takeRefresh(await this.#client.request('UPDATE', { headers }))
  }

  #takeRefresh(response: SipResponse | undefined): void {
    if (this.#isOver) return
    // RFC 3261 12.2.1.2: the peer is gone.
    if (response === undefined || response.status === 408 || response.status === 481)
      return void this.#hangUpForFailure('a request inside the dialog was not answered')
    if (!isSuccess(response)) return this.#sessionTimer.refreshFailed()
    this.#follow(response)
    this.#sessionTimer.restart(termsOfAnswer(response, this.#context.sessionTimer))
  }

  /**
   * A target refresh (RFC 3261 12.2.1.2, 12.2.2): the Contact decides where our next request goes. The route of the
   * 2xx to our INVITE counts too, whatever an 18x made of the early dialog (13.2.2.4).
   */
  #follow(message: SipMessage, routeSet = this.state.routeSet): void {
    const target = contactOf(message) ?? this.state.remoteTarget
    const isSame =
      target === this.state.remoteTarget && isDeepStrictEqual(routeSet, this.state.routeSet)
    if (isSame) return
    this.state.remoteTarget = target
    this.state.routeSet = routeSet
    this.#context.dialogs.moved(this.state)
  }

  #notePeer(message: SipMessage): void {
    this.#peerTakesUpdate = listsToken(message, 'allow', 'UPDATE')
  }

  async #hangUpForFailure(reason: string): Promise<void> {
    this.#byeDone ??= this.#bye([], 'failure', reason)
    await this.#byeDone
  }

  async #bye(headers: readonly Header[], by: EndedBy, reason?: string): Promise<void> {
    if (this.#isOver) return
    this.#sessionTimer.stop()
    this.#finish(reason === undefined ? { by } : { by, reason })
    await this.#acknowledged
    await this.#client.request('BYE', { headers })
    this.#end(by, reason)
  }

  #end(by: EndedBy, reason?: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#sessionTimer.stop()
    this.#repeater.stop()
    this.#context.dialogs.remove(this.state)
    this.#finish(reason === undefined ? { by } : { by, reason })
  }
}

const isSuccess = ({ status }: SipResponse): boolean => status >= 200 && status < 300

const toHeaders = (headers: Readonly<Record<string, string>> = {}): Header[] =>
  Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
