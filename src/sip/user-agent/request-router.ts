import { allowedMethods, type AgentContext } from '../dialog/agent-context.ts'
import type { FoundDialog } from '../dialog/dialog-table.ts'
import type { DropCounter } from '../gate/drop-counter.ts'
import { cseqOf, tagOf } from '../message/headers.ts'
import { IncomingCall } from './incoming-call.ts'
import { headerOf, type Header, type SipRequest } from '../message/message.ts'
import { refusalOfRequest } from './refuse-request.ts'
import { respond } from '../transaction/server-transaction.ts'
import type { ArrivedRequest, SignallingHandlers } from '../transaction/signalling.ts'
import type { SourceLimiter } from '../gate/source-limiter.ts'
import type { SipSources } from '../gate/sources.ts'
import type { Source } from '../transport/transport.ts'
import type { IncomingInvite } from './user-agent-types.ts'

interface RequestRouterOptions {
  readonly sources: SipSources
  /** Calls that one address may begin. */
  readonly newCalls: SourceLimiter
  readonly drops: DropCounter
}

/** Our capabilities, in the response to OPTIONS (RFC 3261 11.2). */
const capabilities: readonly Header[] = [
  ['allow', allowedMethods],
  ['accept', 'application/sdp'],
  ['supported', 'timer'],
]

// Incoming calls that may wait for an answer at one time; further ones are told to retry later.
const maxWaitingCalls = 5000

/** The called half of a user agent: every request goes to its dialog or its call, or is refused (RFC 3261 8.2). */
export class RequestRouter implements SignallingHandlers {
  readonly #context: AgentContext
  readonly #options: RequestRouterOptions
  readonly #waiting = new Map<string, IncomingCall>()
  #handler: ((incoming: IncomingInvite) => void) | undefined

  constructor(context: AgentContext, options: RequestRouterOptions) {
    this.#context = context
    this.#options = options
  }

  onInvite(handler: (incoming: IncomingInvite) => void): void {
    this.#handler = handler
  }

  onAck(request: SipRequest, source: Source): void {
    this.#dialogOf(request, source)?.dialog.receiveAck(request)
  }

  onRequest(arrival: ArrivedRequest): void {
    const { request, source } = arrival
    const { sources, drops } = this.#options
    const isCancel = request.method === 'CANCEL'
    const found = isCancel ? undefined : this.#dialogOf(request, source)
    if (found !== undefined) receiveInDialog(found, arrival)
    else if (!sources.admits(source)) drops.count('foreign_request', source.address)
    else if (isCancel) this.#receiveCancel(arrival)
    else this.#receiveOutsideDialog(arrival)
  }

  /** Refuses the calls that were not answered yet. */
  async stop(): Promise<void> {
    this.#handler = undefined
    for (const call of this.#waiting.values()) call.reject(503, 'Service Unavailable')
    await Promise.resolve()
  }

  #receiveOutsideDialog(arrival: ArrivedRequest): void {
    const { request } = arrival
    // It carries a To tag of no active dialog: the dialog is over, or invented.
    if (tagOf(request, 'to') !== undefined) return arrival.refuse(481)
    const refusal = refusalOfRequest(request, this.#context)
    if (refusal !== undefined) arrival.refuse(refusal.status, refusal.headers)
    else if (request.method === 'OPTIONS') arrival.refuse(200, capabilities)
    else this.#receiveInvite(arrival)
  }

  #receiveInvite(arrival: ArrivedRequest): void {
    const { request, source } = arrival
    const key = mergeKeyOf(request)
    const waiting = this.#waiting
    const handler = this.#handler
    if (handler === undefined) return arrival.refuse(403)
    if (waiting.size >= maxWaitingCalls) return arrival.refuse(503, [['retry-after', '5']])
    // The same request on two paths: a fork met itself again (RFC 3261 8.2.2.2).
    if (waiting.has(key)) return arrival.refuse(482)
    const isAdmitted = this.#options.newCalls.admits(source.address)
    const transaction = isAdmitted ? arrival.open('outside') : undefined
    if (transaction === undefined) return
    const call = new IncomingCall(this.#context, transaction, {
      source,
      onFinal: () => waiting.delete(key),
    })
    waiting.set(key, call)
    void this.#offer(call, handler)
  }

  // A CANCEL may come while we still determine our address towards the caller.
  async #offer(call: IncomingCall, take: (incoming: IncomingInvite) => void): Promise<void> {
    try {
      await call.prepare()
      if (!call.isFinal) take(call)
    } catch (error) {
      this.#context.logger.error({ err: error }, 'incoming call could not be handled')
      call.reject(500, 'Server Internal Error')
    }
  }

  #receiveCancel(arrival: ArrivedRequest): void {
    const invite = this.#context.signalling.findInvite(arrival.request)
    if (invite === undefined) return arrival.refuse(481)
    const transaction = arrival.open('outside')
    if (transaction === undefined) return
    respond(transaction, 200)
    this.#waiting.get(mergeKeyOf(invite.request))?.cancel()
  }

  /** The dialog of a request, if its sender may send for it: the trunk, or a peer of this dialog. */
  #dialogOf(request: SipRequest, source: Source): FoundDialog | undefined {
    const found = this.#context.dialogs.find(request)
    return found !== undefined && (this.#options.sources.admits(source) || found.isPeer(source))
      ? found
      : undefined
  }
}

const receiveInDialog = ({ dialog, key }: FoundDialog, arrival: ArrivedRequest): void => {
  const transaction = arrival.open({ dialogKey: key })
  if (transaction !== undefined) dialog.receive(transaction, arrival.source)
}

const mergeKeyOf = (request: SipRequest): string =>
  `${headerOf(request, 'call-id') ?? ''}|${tagOf(request, 'from') ?? ''}|${cseqOf(request).sequence}`
