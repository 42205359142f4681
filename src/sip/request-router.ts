import type { Clock } from '../runtime/clock.ts'
import { allowedMethods, type AgentContext } from './agent-context.ts'
import { dialogKeyOfRequest } from './dialog-state.ts'
import { cseqOf, tagOf } from './headers.ts'
import { IncomingCall } from './incoming-call.ts'
import { headerOf, type Header, type SipRequest } from './message.ts'
import { refusalOf } from './refuse-request.ts'
import { respond, type ServerTransaction } from './server-transaction.ts'
import type { SignallingHandlers } from './signalling.ts'
import { createSourceLimiter } from './source-limiter.ts'
import type { Destination, Source } from './transport.ts'
import type { IncomingInvite } from './user-agent-types.ts'

export interface RequestRouterOptions {
  readonly mayReceiveFrom: (source: Destination) => boolean
  readonly maxUnknownPerSecond: number
  readonly clock: Clock
}

/** The called half of a user agent: every request goes to its dialog, its call, or gets its refusal (RFC 3261 8.2). */
export interface RequestRouter extends SignallingHandlers {
  onInvite(handler: (incoming: IncomingInvite) => void): void
  /** Refuses the calls that nobody answered yet. */
  stop(): Promise<void>
}

/** What we can do, as the answer to OPTIONS (RFC 3261 11.2). */
const capabilities: readonly Header[] = [
  ['allow', allowedMethods],
  ['accept', 'application/sdp'],
  ['supported', 'timer'],
]

// Calls that may wait for our answer at one time; more are told to come back later.
const maxWaitingCalls = 5000

export const createRequestRouter = (
  context: AgentContext,
  options: RequestRouterOptions,
): RequestRouter => {
  const limiter = createSourceLimiter(options.maxUnknownPerSecond, options.clock)
  const waiting = new Map<string, IncomingCall>()
  let handler: ((incoming: IncomingInvite) => void) | undefined

  const receiveOutsideDialog = (transaction: ServerTransaction, source: Source): void => {
    const { request } = transaction
    // Silence tells a scanner nothing; the transaction is forgotten at once.
    if (!options.mayReceiveFrom(source) || !limiter.admits(source.address))
      return transaction.terminate()
    const refusal = refusalOf(request, context)
    if (refusal !== undefined) respond(transaction, refusal.status, refusal.headers)
    else if (request.method === 'OPTIONS') respond(transaction, 200, capabilities)
    else receiveInvite(transaction, source)
  }

  const receiveInvite = (transaction: ServerTransaction, source: Source): void => {
    const key = mergeKeyOf(transaction.request)
    if (handler === undefined) return respond(transaction, 403)
    if (waiting.size >= maxWaitingCalls) return respond(transaction, 503, [['retry-after', '5']])
    // The same request on two ways: a fork met itself again (RFC 3261 8.2.2.2).
    if (waiting.has(key)) return respond(transaction, 482)
    respond(transaction, 100)
    const call = new IncomingCall(context, transaction, {
      source,
      onFinal: () => waiting.delete(key),
    })
    waiting.set(key, call)
    void offer(call, handler)
  }

  // A CANCEL may come while we still find out by which address the caller reaches us.
  const offer = async (
    call: IncomingCall,
    take: (incoming: IncomingInvite) => void,
  ): Promise<void> => {
    try {
      await call.prepare()
      if (!call.isFinal) take(call)
    } catch (error) {
      context.logger.error({ err: error }, 'incoming call could not be handled')
      call.reject(500, 'Server Internal Error')
    }
  }

  const receiveCancel = (transaction: ServerTransaction): void => {
    const invite = context.signalling.findInvite(transaction.request)
    respond(transaction, invite === undefined ? 481 : 200)
    if (invite !== undefined) waiting.get(mergeKeyOf(invite.request))?.cancel()
  }

  return {
    onInvite: (given) => {
      handler = given
    },
    onAck: (request) => {
      context.dialogs.get(dialogKeyOfRequest(request))?.receiveAck(request)
    },
    onRequest: (transaction, source) => {
      const { request } = transaction
      if (request.method === 'CANCEL') return receiveCancel(transaction)
      const dialog = context.dialogs.get(dialogKeyOfRequest(request))
      if (dialog !== undefined) dialog.receive(transaction, source)
      else if (tagOf(request, 'to') !== undefined) respond(transaction, 481)
      else receiveOutsideDialog(transaction, source)
    },
    stop: async () => {
      handler = undefined
      for (const call of waiting.values()) call.reject(503, 'Service Unavailable')
      await Promise.resolve()
    },
  }
}

const mergeKeyOf = (request: SipRequest): string =>
  `${headerOf(request, 'call-id') ?? ''}|${tagOf(request, 'from') ?? ''}|${cseqOf(request).sequence}`
