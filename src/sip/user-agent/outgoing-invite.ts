import type { AgentContext } from '../dialog/agent-context.ts'
import { withVia } from '../transaction/hop.ts'
import { createDigestClient, type DigestClient } from '../digest/digest.ts'
import {
  acknowledgeReliable,
  createInviteBranches,
  type InviteBranches,
} from './invite-branches.ts'
import type { InviteClientTransaction } from '../transaction/invite-client-transaction.ts'
import { buildCancel, buildInvite } from './invite-request.ts'
import { createRedirection, type Redirection } from './redirection.ts'
import {
  bodyText,
  headerOf,
  serializeMessage,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { newTag } from '../message/responses.ts'
import { createTimers, type Timers } from '../transaction/timers.ts'
import { minimumOf } from '../dialog/session-timer.ts'
import type { Hop } from '../transaction/hop.ts'
import { transactionTimeoutMs } from '../transaction/transaction-timing.ts'
import type { Destination } from '../message/destination.ts'
import type { InviteOptions, InviteResult } from './user-agent-types.ts'

/** Why this INVITE shall end without an answered call. */
type GivingUp = 'ring_timeout' | 'cancelled' | 'no_response'

// To one address a legitimate path sends at most a 401, a 407, a stale nonce of each and a 422.
const maxInvites = 5
/** Addresses of one call that are tried. */
const maxAddresses = 8
/** RFC 3261 18.1.1, with the Via that is still missing. */
const maxDatagramBytes = 1300
const viaBytes = 120
const digestBytes = 300
/** How long after the beginning another address is still tried (D16). */
const tryingMs = 12_000

/**
 * One call being placed: the INVITE, its repetitions for 401, 407 and 422, its early dialogs, CANCEL and every race
 * between them (RFC 3261 9.1, 13.2). `result` resolves once; `done` when no phone can ring or answer any more.
 */
export class OutgoingInvite {
  readonly result: Promise<InviteResult>
  readonly done: Promise<void>
  readonly #context: AgentContext
  readonly #options: InviteOptions
  readonly #digest: DigestClient
  readonly #timers: Timers<'ring' | 'response' | 'cancel' | 'patience'>
  readonly #branches: InviteBranches
  readonly #sipCallId = `${newTag()}${newTag()}`
  readonly #localTag = newTag()
  readonly #settle: (result: InviteResult) => void
  readonly #finish: () => void
  #expiresSeconds: number
  #minSeconds: number
  #sequence = 0
  #transaction: InviteClientTransaction | undefined
  #hop: Hop | undefined
  /** Addresses that were not tried yet (RFC 3263 4.3). */
  #others: readonly Destination[] = []
  #invitesHere = 0
  readonly #startedMs: number
  #target: string
  readonly #redirection: Redirection
  #isProvisional = false
  #isCancelSent = false
  #isSettled = false
  #rang = false
  #givingUp: GivingUp | undefined

  constructor(context: AgentContext, options: InviteOptions) {
    this.#context = context
    this.#options = options
    this.#startedMs = context.time.monotonicMs()
    this.#target = options.target
    this.#redirection = createRedirection(options.target, options.redirectHosts)
    this.#digest = createDigestClient(options.credentials, {
      policy: options.digestPolicy,
      // Another server that a 3xx named may be of the carrier; its password is for the first one all the same.
      isFirstHop: (destination) =>
        this.#target === options.target && isSameHop(destination, this.#hop?.destination),
    })
    this.#branches = createInviteBranches(context, this.#digest, options.onEarlyOffer)
    this.#timers = createTimers(context.time)
    if (options.trace !== undefined)
      context.signalling.traces.follow(this.#sipCallId, options.trace)
    this.#expiresSeconds = context.sessionTimer.expiresSeconds
    this.#minSeconds = context.sessionTimer.minSeconds
    const result = Promise.withResolvers<InviteResult>()
    const done = Promise.withResolvers<void>()
    this.result = result.promise
    this.done = done.promise
    this.#settle = result.resolve
    this.#finish = done.resolve
  }

  /** Finds the next hop and sends. An abort of the signal cancels from here on. */
  async start(signal: AbortSignal): Promise<void> {
    const hop = await this.#findHop().catch((error: unknown) => describe(error))
    if (signal.aborted) return this.#close({ kind: 'cancelled', rang: false, invited: false })
    if (typeof hop === 'string') return this.#unreachable(hop)
    this.#hop = hop
    if (this.#options.maySend?.() === false) return this.#close({ kind: 'not_sent' })
    const abort = (): void => {
      this.cancel()
    }
    signal.addEventListener('abort', abort, { once: true })
    void this.result.then(() => {
      signal.removeEventListener('abort', abort)
    })
    this.#timers.set('ring', this.#options.ringTimeoutMs, () => {
      this.#giveUp('ring_timeout')
    })
    this.#send(hop)
  }

  /** Ends the attempt: CANCEL after any response of the other side (RFC 3261 9.1). */
  cancel(): void {
    this.#giveUp('cancelled')
  }

  /** The user agent stops: nothing more is awaited. */
  abandon(): void {
    this.#transaction?.terminate()
    this.#givingUp ??= 'cancelled'
    this.#closeGivenUp(undefined)
  }

  /** The first address that takes a connection. Rejects if an INVITE would arrive at none. */
  async #findHop(): Promise<Hop> {
    this.#others = (
      await this.#context.signalling.locate(this.#options.routes?.[0] ?? this.#target)
    ).slice(0, maxAddresses)
    return this.#nextHop()
  }

  async #nextHop(): Promise<Hop> {
    const { signalling, time } = this.#context
    let fault: unknown = new Error('no address is left')
    for (;;) {
      const [next, ...others] = this.#others
      if (next === undefined || time.monotonicMs() - this.#startedMs > tryingMs) throw fault
      this.#others = others
      try {
        const hop = await signalling.hopTo(next)
        if (!(await signalling.isRefusing(hop))) return await this.#fitting(hop)
        signalling.health.failed(next)
        fault = new Error('its address refused a datagram just now')
      } catch (error) {
        fault = error
      }
    }
  }

  /** Tries the next address, because this INVITE certainly rang no phone; else it ends with `result`. */
  async #tryElsewhere(result: InviteResult, find: () => Promise<Hop>): Promise<void> {
    this.#timers.clear('response')
    this.#isProvisional = false
    const hop = await find().catch(() => undefined)
    if (this.#givingUp !== undefined) return this.#closeGivenUp(undefined)
    if (hop === undefined) return this.#close(result)
    if (this.#options.maySend?.() === false)
      return this.#close({ kind: 'cancelled', rang: this.#rang, invited: true })
    this.#invitesHere = 0
    this.#hop = hop
    this.#send(hop)
  }

  /** A datagram longer than the path's would be fragmented and lost: it goes by TCP where the server takes that. */
  #fitting(hop: Hop): Hop | Promise<Hop> {
    if (hop.destination.protocol !== 'udp') return hop
    const bytes = serializeMessage(this.#signedInvite(hop)).length
    const expected = bytes + viaBytes + (this.#options.credentials === undefined ? 0 : digestBytes)
    return expected > maxDatagramBytes ? this.#context.signalling.wideHop(hop) : hop
  }

  #send(hop: Hop): void {
    this.#sequence += 1
    this.#invitesHere += 1
    this.#isProvisional = false
    const request = withVia(this.#signedInvite(hop), hop)
    if (this.#options.responseTimeoutMs !== undefined) {
      this.#timers.set('response', this.#options.responseTimeoutMs, () => {
        this.#giveUp('no_response')
      })
    }
    const isCurrent = (): boolean => this.#transaction?.request === request
    this.#transaction = this.#context.signalling.startInvite(request, hop, {
      onResponse: (response) => {
        this.#receive(request, response)
      },
      onTimeout: () => {
        if (isCurrent()) this.#lost('no response came')
      },
      onTransportError: (error) => {
        if (isCurrent()) this.#lost(describe(error), this.#transaction?.hasLeft === false)
      },
    })
  }

  #signedInvite(hop: Hop): SipRequest {
    const invite = buildInvite(this.#options, {
      target: this.#target,
      hop,
      sipCallId: this.#sipCallId,
      localTag: this.#localTag,
      sequence: this.#sequence,
      session: { expiresSeconds: this.#expiresSeconds, minSeconds: this.#minSeconds },
      userAgentName: this.#context.userAgentName,
    })
    return {
      ...invite,
      headers: [...invite.headers, ...this.#digest.towards(hop.destination).sign(invite)],
    }
  }

  #receive(invite: SipRequest, response: SipResponse): void {
    this.#timers.clear('response')
    if (response.status < 200) this.#provisional(invite, response)
    else if (response.status < 300) this.#success(invite, response)
    else this.#refusal(response)
  }

  #provisional(invite: SipRequest, response: SipResponse): void {
    this.#isProvisional = true
    if (response.status >= 180 && response.status < 190) this.#rang = true
    if (this.#givingUp !== undefined) return this.#sendCancel()
    const branch = this.#branches.of(invite, response, this.#hop?.destination.address)
    if (branch !== undefined && !acknowledgeReliable(invite, response, branch)) return
    if (branch !== undefined && response.body.length > 0)
      branch.dialog.remoteSdp = bodyText(response)
    this.#options.onProvisional?.(response)
  }

  #success(invite: SipRequest, response: SipResponse): void {
    const branch = this.#branches.of(invite, response, this.#hop?.destination.address)
    if (branch === undefined) return
    if (branch.isConfirmed) return branch.dialog.acknowledge(invite)
    branch.isConfirmed = true
    if (this.#hop !== undefined) this.#digest.towards(this.#hop.destination).prove(response)
    branch.dialog.confirmAsCaller(invite, response)
    if (this.#givingUp === undefined && !this.#isSettled) {
      this.#branches.dropAllBut(branch)
      return this.#close({ kind: 'answered', dialog: branch.dialog, response })
    }
    // A 200 that crossed our CANCEL, or a second phone that answered: accepted, and hung up at once (RFC 3261
    // 13.2.2.4).
    const hungUp = branch.dialog.bye()
    this.#closeGivenUp(response)
    void hungUp.then(this.#finish)
  }

  #refusal(response: SipResponse): void {
    this.#branches.dropAllBut(undefined)
    if (this.#givingUp !== undefined) return this.#closeGivenUp(response)
    const refused = this.#refusedBy(response)
    if (response.status === 503 && !this.#rang && this.#others.length > 0) {
      this.#hopFailed()
      if (this.#hop !== undefined) this.#digest.towards(this.#hop.destination).prove(response)
      return void this.#tryElsewhere(refused, () => this.#nextHop())
    }
    const redirected = this.#rang ? undefined : this.#redirection.next(response)
    if (redirected !== undefined) {
      this.#target = redirected
      return void this.#tryElsewhere(refused, () => this.#findHop())
    }
    if (this.#mayTryAgain(response) && this.#hop !== undefined) {
      if (this.#options.maySend?.() ?? true) return this.#send(this.#hop)
      return this.#close({ kind: 'cancelled', rang: this.#rang, invited: true })
    }
    this.#close(refused)
  }

  #refusedBy(response: SipResponse): InviteResult {
    const request = this.#transaction?.request
    const isAuthorized = request !== undefined && carriesCredentials(request)
    return { kind: 'refused', response, rang: this.#rang, ...(isAuthorized && { isAuthorized }) }
  }

  /**
   * Only if this INVITE certainly rang no phone: the server asked for credentials, or for a longer session
   * interval. After any 18x a second INVITE would ring a phone a second time.
   */
  #mayTryAgain(response: SipResponse): boolean {
    if (this.#rang || this.#invitesHere >= maxInvites) return false
    if (this.#hop === undefined) return false
    if (response.status !== 422) return this.#digest.towards(this.#hop.destination).learn(response)
    const minimum = minimumOf(response) ?? 0
    if (minimum <= this.#expiresSeconds && minimum <= this.#minSeconds) return false
    this.#minSeconds = minimum
    this.#expiresSeconds = Math.max(this.#expiresSeconds, minimum)
    return true
  }

  /** The next calls try other addresses of the name first. */
  #hopFailed(): void {
    if (this.#hop !== undefined) this.#context.signalling.health.failed(this.#hop.destination)
  }

  #giveUp(why: GivingUp): void {
    if (this.#isSettled || this.#givingUp !== undefined) return
    if (why === 'no_response') this.#hopFailed()
    this.#givingUp = why
    this.#timers.clearAll()
    if (this.#isProvisional) return this.#sendCancel()
    // No response came: CANCEL must wait (RFC 3261 9.1), and no further copy may make a phone ring.
    this.#transaction?.stopRetransmitting()
    this.#awaitEnd(why === 'cancelled' ? 4 * this.#context.timing.t1Ms : 0)
  }

  #sendCancel(): void {
    if (this.#isCancelSent || this.#hop === undefined || this.#transaction === undefined) return
    this.#isCancelSent = true
    const quiet = { onResponse: () => {}, onTimeout: () => {}, onTransportError: () => {} }
    const cancel = buildCancel(this.#transaction.request)
    this.#context.signalling.startRequest(cancel, this.#hop, quiet)
    this.#awaitEnd(4 * this.#context.timing.t1Ms)
    // RFC 3261 9.1: without a final response in 64 × T1 the INVITE counts as cancelled.
    this.#timers.set('cancel', transactionTimeoutMs(this.#context.timing), () => {
      this.#transaction?.terminate()
      this.#closeGivenUp(undefined)
    })
  }

  /** The caller of this function does not wait for an INVITE that ends by itself from here. */
  #awaitEnd(patienceMs: number): void {
    this.#timers.set('patience', patienceMs, () => {
      this.#settleGivenUp()
    })
  }

  #closeGivenUp(response: SipResponse | undefined): void {
    this.#timers.clearAll()
    this.#branches.dropAllBut(undefined)
    this.#settleGivenUp(response)
    this.#finish()
  }

  #settleGivenUp(response?: SipResponse): void {
    const rang = this.#rang
    if (this.#givingUp === 'cancelled')
      return this.#resolve({ kind: 'cancelled', rang, invited: true })
    if (!this.#isProvisional && response === undefined)
      return this.#resolve(noResponse('no response came', rang))
    // A busy or declining callee decides the outcome, even if our CANCEL was already on its way.
    if (response !== undefined && [486, 600, 603].includes(response.status))
      return this.#resolve({ kind: 'refused', response, rang })
    const known = response === undefined ? {} : { response }
    this.#resolve({ kind: 'ring_timeout', rang, ...known })
  }

  /** `isUnsent`: no copy of this INVITE left, and earlier ones got final responses, so they rang no phone. */
  #lost(reason: string, isUnsent = false): void {
    this.#hopFailed()
    if (this.#givingUp === undefined && isUnsent && !this.#rang && this.#others.length > 0) {
      const result: InviteResult = { kind: 'unreachable', reason, rang: false, invited: false }
      void this.#tryElsewhere(result, () => this.#nextHop())
    } else if (this.#givingUp === undefined) this.#unreachable(reason, isUnsent && !this.#rang)
    else this.#closeGivenUp(undefined)
  }

  #unreachable(reason: string, isUnsent = false): void {
    const invited = this.#sequence > 0 && !isUnsent
    this.#close({ kind: 'unreachable', reason, rang: this.#rang, invited })
  }

  #close(result: InviteResult): void {
    this.#timers.clearAll()
    if (result.kind !== 'answered') this.#branches.dropAllBut(undefined)
    this.#resolve(result)
    this.#finish()
  }

  #resolve(result: InviteResult): void {
    this.#isSettled = true
    this.#settle(result)
  }
}

const noResponse = (reason: string, rang: boolean): InviteResult => ({
  kind: 'unreachable',
  reason,
  rang,
  invited: true,
})

const carriesCredentials = (request: SipRequest): boolean =>
  ['authorization', 'proxy-authorization'].some((name) => headerOf(request, name) !== undefined)

const isSameHop = (a: Destination, b: Destination | undefined): boolean =>
  a.address === b?.address && a.port === b.port

const describe = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
