import type { Logger } from '../../runtime/logger.ts'
import type { ClientTransactionListener } from '../transaction/client-transaction.ts'
import type { DropCounter } from '../gate/drop-counter.ts'
import { tagOf, topVia } from '../message/headers.ts'
import { InviteClientTransaction } from '../transaction/invite-client-transaction.ts'
import { InviteServerTransaction } from '../transaction/invite-server-transaction.ts'
import type { KnownCalls } from '../gate/known-calls.ts'
import {
  headerOf,
  messageLimits,
  serializeMessage,
  type Header,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { NonInviteClientTransaction } from '../transaction/non-invite-client-transaction.ts'
import { NonInviteServerTransaction } from '../transaction/non-invite-server-transaction.ts'
import { parseMessage } from '../message/parse-message.ts'
import type { RequestGate } from '../gate/request-gate.ts'
import type { SipResolver } from '../transport/resolver.ts'
import { createResponseSender, mayAnswerFor, stampTopVia } from '../transport/response-routing.ts'
import type { Scheduler } from '../transaction/scheduler.ts'
import { createServerTable, type TableShare } from '../transaction/server-table.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import { clientKeyOf, clientKeyOfResponse, serverKeyOf } from '../transaction/transaction-key.ts'
import type { SourceLimiter } from '../gate/source-limiter.ts'
import type { SipSources } from '../gate/sources.ts'
import { createStatelessRefusals } from '../gate/stateless-refusals.ts'
import type { TransactionTiming } from '../transaction/transaction-timing.ts'
import {
  isReliable,
  type Destination,
  type Source,
  type Transport,
  type TransportProtocol,
} from '../transport/transport.ts'
import { hostPort, parseSipUri } from '../message/uri.ts'

/** A next hop that is ready to be written to, and the name we go by towards it. */
export interface Hop {
  readonly destination: Destination
  readonly localHost: string
  /** Our address as the hop should see it, with port: for Via and Contact. */
  readonly localHostPort: string
}

/** A request that belongs to no open transaction. It costs no memory before `open`. */
export interface Arrival {
  readonly request: SipRequest
  readonly source: Source
  /** Opens its transaction, which waits for `respond`; `undefined` where the share of the table is used up. */
  open(share: TableShare): ServerTransaction | undefined
  /** Answers once and forgets (RFC 3261 8.2.7); a repeated request gets the same answer. */
  refuse(status: number, headers?: readonly Header[]): void
}

/** What reaches the transaction user. */
export interface SignallingHandlers {
  onRequest(arrival: Arrival): void
  /** An ACK that belongs to no transaction: it answers a 2xx (RFC 3261 17.1.1.3). */
  onAck(request: SipRequest, source: Source): void
}

/** Transports and transactions together: what RFC 3261 5 calls the layers below the transaction user. */
export interface Signalling {
  start(handlers: SignallingHandlers): Promise<void>
  /** Ends every transaction and closes every socket. */
  stop(): Promise<void>
  readonly localPort: number
  /** Resolves the next hop of a URI and gets its transport ready. Rejects with an `Error`. */
  route(uri: string): Promise<Hop>
  /** The same for an address that is known. */
  hopTo(destination: Destination): Promise<Hop>
  /** Whether the hop refuses what is sent there, as far as its transport knows. */
  isRefusing(hop: Hop): Promise<boolean>
  startInvite(
    request: SipRequest,
    hop: Hop,
    listener: ClientTransactionListener,
  ): InviteClientTransaction
  startRequest(
    request: SipRequest,
    hop: Hop,
    listener: ClientTransactionListener,
  ): NonInviteClientTransaction
  /** Writes an ACK to a 2xx, which has no transaction. Losses are made up for by the repeated 2xx. */
  sendAck(request: SipRequest, hop: Hop): void
  /** The INVITE transaction a CANCEL is about (RFC 3261 9.2). */
  findInvite(cancel: SipRequest): ServerTransaction | undefined
}

export interface SignallingOptions {
  readonly transports: ReadonlyMap<TransportProtocol, Transport>
  readonly resolver: SipResolver
  readonly timing: TransactionTiming
  readonly scheduler: Scheduler
  /** Replaces our own address in Via and Contact, behind a 1:1 NAT. */
  readonly advertisedAddress?: string
  readonly gate: RequestGate
  readonly sources: SipSources
  readonly known: KnownCalls
  readonly drops: DropCounter
  /** Answers to requests outside of dialogs that one address may draw from us. */
  readonly answers: SourceLimiter
  readonly logger: Logger
}

interface Client {
  readonly transaction: InviteClientTransaction | NonInviteClientTransaction
  readonly destination: Destination
}

export const createSignalling = (options: SignallingOptions): Signalling => {
  const { transports, timing, scheduler, gate, known, drops } = options
  const clients = new Map<string, Client>()
  const servers = createServerTable()
  let handlers: SignallingHandlers | undefined

  const transportOf = (protocol: TransportProtocol): Transport => {
    const transport = transports.get(protocol)
    if (transport === undefined) throw new Error(`the ${protocol} transport is not enabled`)
    return transport
  }

  const refuse = createStatelessRefusals({ transportOf, answers: options.answers, drops })

  const receive = (bytes: Buffer, source: Source): void => {
    const parsed = parseMessage(bytes, largestOf(source.protocol))
    if (!parsed.ok) {
      options.logger.debug({ reason: parsed.reason, from: source.address }, 'SIP message refused')
      if (parsed.request !== undefined && options.sources.admits(source)) {
        const reason = refusalPhrase(parsed.status, parsed.reason)
        refuse(stampTopVia(parsed.request, source), source, parsed.status, { reason })
      }
    } else if (parsed.message.kind === 'response') receiveResponse(parsed.message, source)
    else receiveRequest(stampTopVia(parsed.message, source), source)
  }

  // The boundary of everything a peer can cause: a fault of ours in one message must not end the others' calls.
  const receiveSafely = (bytes: Buffer, source: Source): void => {
    try {
      if (gate.admits(bytes, source)) receive(bytes, source)
    } catch (error) {
      options.logger.error({ err: error }, 'SIP message could not be handled')
    }
  }

  const receiveResponse = (response: SipResponse, source: Source): void => {
    const key = clientKeyOfResponse(response)
    const client = key === undefined ? undefined : clients.get(key)
    if (client === undefined) return
    if (mayAnswerFor(client.destination, source, options.sources))
      client.transaction.receive(response)
    else drops.count('foreign_response', source.address)
  }

  const receiveRequest = (request: SipRequest, source: Source): void => {
    const transaction = servers.find(serverKeyOf(request))
    if (transaction !== undefined) transaction.receive(request)
    else if (request.method === 'ACK') handlers?.onAck(request, source)
    else {
      handlers?.onRequest({
        request,
        source,
        open: (share) => openServerTransaction(request, source, share),
        refuse: (status, headers = []) => {
          refuse(request, source, status, { headers })
        },
      })
    }
  }

  const openServerTransaction = (
    request: SipRequest,
    source: Source,
    share: TableShare,
  ): ServerTransaction | undefined => {
    if (!servers.hasRoom(share)) {
      drops.count('table_full', source.address)
      return undefined
    }
    const key = serverKeyOf(request)
    const [sipCallId, token] = [headerOf(request, 'call-id') ?? '', branchOf(request)]
    const send = createResponseSender(request, source, transportOf(source.protocol))
    const isInvite = request.method === 'INVITE'
    const transaction = new (isInvite ? InviteServerTransaction : NonInviteServerTransaction)({
      request,
      send: (response) => send(serializeMessage(response)),
      isReliable: isReliable(source.protocol),
      timing,
      scheduler,
      onTerminated: () => {
        servers.remove(key)
        known.remove(sipCallId, token)
      },
    })
    servers.add(key, transaction, share)
    known.add(sipCallId, token)
    return transaction
  }

  const hopTo = async (destination: Destination): Promise<Hop> => {
    const transport = transportOf(destination.protocol)
    const routed = await transport.prepare(destination)
    const localHost = options.advertisedAddress ?? routed
    const port = transport.localPort || (transports.get('udp')?.localPort ?? 0)
    return { destination, localHost, localHostPort: hostPort(localHost, port) }
  }

  const clientOptions = (
    request: SipRequest,
    { destination }: Hop,
    listener: ClientTransactionListener,
    key: string,
    forget: () => void,
  ) => ({
    request,
    send: createSender(transportOf(destination.protocol), destination),
    isReliable: isReliable(destination.protocol),
    timing,
    scheduler,
    listener: {
      onResponse: listener.onResponse,
      onTimeout: listener.onTimeout,
      onTransportError: listener.onTransportError,
      onTerminated: () => {
        clients.delete(key)
        forget()
        listener.onTerminated?.()
      },
    },
  })

  const begin = <T extends InviteClientTransaction | NonInviteClientTransaction>(
    key: string,
    destination: Destination,
    transaction: T,
  ): T => {
    clients.set(key, { transaction, destination })
    transaction.start()
    return transaction
  }

  /** Its answers are ours to read until the returned function is called. */
  const awaitAnswers = (request: SipRequest, { destination }: Hop): (() => void) => {
    const [sipCallId, tag] = [headerOf(request, 'call-id') ?? '', tagOf(request, 'from') ?? '']
    known.add(sipCallId, tag)
    const unexpect = gate.expect(destination)
    return () => {
      known.remove(sipCallId, tag)
      unexpect()
    }
  }

  return {
    start: async (given) => {
      handlers = given
      const admits = (source: Destination): boolean => gate.admitsConnection(source)
      for (const transport of transports.values()) await transport.start(receiveSafely, admits)
    },
    stop: async () => {
      for (const { transaction } of clients.values()) transaction.terminate()
      for (const transaction of servers.all()) transaction.terminate()
      drops.stop()
      await Promise.all([...transports.values()].map((transport) => transport.stop()))
    },
    get localPort() {
      return transports.get('udp')?.localPort ?? 0
    },
    route: async (uri) => {
      const parsed = parseSipUri(uri)
      if (parsed === undefined) throw new Error('the URI is not a SIP URI')
      return hopTo(await options.resolver.resolve(parsed))
    },
    hopTo,
    isRefusing: async ({ destination }) =>
      (await transportOf(destination.protocol).isRefusing?.(destination)) ?? false,
    startInvite: (request, hop, listener) => {
      const [key, forget] = [clientKeyOf(request), awaitAnswers(request, hop)]
      const settings = clientOptions(request, hop, listener, key, forget)
      return begin(key, hop.destination, new InviteClientTransaction(settings))
    },
    startRequest: (request, hop, listener) => {
      const [key, forget] = [clientKeyOf(request), awaitAnswers(request, hop)]
      const settings = clientOptions(request, hop, listener, key, forget)
      return begin(key, hop.destination, new NonInviteClientTransaction(settings))
    },
    sendAck: (request, { destination }) => {
      createSender(transportOf(destination.protocol), destination)(request).catch(() => {})
    },
    findInvite: (cancel) => servers.find(serverKeyOf(cancel, 'INVITE')),
  }
}

const createSender =
  (transport: Transport, destination: Destination) =>
  (message: SipMessage): Promise<void> =>
    transport.send(serializeMessage(message), destination)

const branchOf = (request: SipRequest): string => topVia(request)?.parameters.get('branch') ?? ''

const refusalPhrase = (status: number, reason: string): string =>
  status === 400 ? `Bad Request (${reason})` : reason

const largestOf = (protocol: TransportProtocol): number =>
  protocol === 'udp' ? messageLimits.maxDatagramBytes : messageLimits.maxBytes
