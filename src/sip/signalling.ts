import type { Logger } from '../runtime/logger.ts'
import type { ClientTransactionListener } from './client-transaction.ts'
import { topVia } from './headers.ts'
import { InviteClientTransaction } from './invite-client-transaction.ts'
import { InviteServerTransaction } from './invite-server-transaction.ts'
import { serializeMessage, type SipMessage, type SipRequest, type SipResponse } from './message.ts'
import { NonInviteClientTransaction } from './non-invite-client-transaction.ts'
import { NonInviteServerTransaction } from './non-invite-server-transaction.ts'
import { parseMessage } from './parse-message.ts'
import type { SipResolver } from './resolver.ts'
import { createResponseSender, stampTopVia } from './response-routing.ts'
import { createResponse } from './responses.ts'
import type { Scheduler } from './scheduler.ts'
import type { ServerTransaction } from './server-transaction.ts'
import { clientKeyOf, clientKeyOfResponse, serverKeyOf } from './transaction-key.ts'
import type { TransactionTiming } from './transaction-timing.ts'
import {
  isReliable,
  type Destination,
  type Source,
  type Transport,
  type TransportProtocol,
} from './transport.ts'
import { hostPort, parseSipUri } from './uri.ts'

/** A next hop that is ready to be written to, and the name we go by towards it. */
export interface Hop {
  readonly destination: Destination
  readonly localHost: string
  /** Our address as the hop should see it, with port: for Via and Contact. */
  readonly localHostPort: string
}

/** What reaches the transaction user. */
export interface SignallingHandlers {
  /** A new request; its transaction waits for `respond`. */
  onRequest(transaction: ServerTransaction, source: Source): void
  /** An ACK that belongs to no transaction: it answers a 2xx (RFC 3261 17.1.1.3). */
  onAck(request: SipRequest): void
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
  readonly logger: Logger
}

// One call leaves about four lingering transactions for 32 s; this holds 150 calls per second.
const maxTransactions = 20_000

export const createSignalling = (options: SignallingOptions): Signalling => {
  const { transports, timing, scheduler } = options
  const clients = new Map<string, InviteClientTransaction | NonInviteClientTransaction>()
  const servers = new Map<string, ServerTransaction>()
  let handlers: SignallingHandlers | undefined

  const transportOf = (protocol: TransportProtocol): Transport => {
    const transport = transports.get(protocol)
    if (transport === undefined) throw new Error(`the ${protocol} transport is not enabled`)
    return transport
  }

  const receive = (bytes: Buffer, source: Source): void => {
    const parsed = parseMessage(bytes)
    if (!parsed.ok) {
      options.logger.debug({ reason: parsed.reason, from: source.address }, 'SIP message refused')
      if (parsed.request !== undefined)
        refuse(stampTopVia(parsed.request, source), source, parsed.status, parsed.reason)
    } else if (parsed.message.kind === 'response') receiveResponse(parsed.message)
    else receiveRequest(stampTopVia(parsed.message, source), source)
  }

  // The boundary of everything a peer can cause: a fault of ours in one message must not end the others' calls.
  const receiveSafely = (bytes: Buffer, source: Source): void => {
    try {
      receive(bytes, source)
    } catch (error) {
      options.logger.error({ err: error }, 'SIP message could not be handled')
    }
  }

  // Without transaction state, so that malformed floods cost no memory. An ACK is never answered.
  const refuse = (request: SipRequest, source: Source, status: number, reason: string): void => {
    if (request.method === 'ACK' || topVia(request) === undefined) return
    const send = createResponseSender(request, source, transportOf(source.protocol))
    const response = createResponse(request, status, { reason: refusalPhrase(status, reason) })
    send(serializeMessage(response)).catch(() => {})
  }

  const receiveResponse = (response: SipResponse): void => {
    const key = clientKeyOfResponse(response)
    const transaction = key === undefined ? undefined : clients.get(key)
    transaction?.receive(response)
  }

  const receiveRequest = (request: SipRequest, source: Source): void => {
    const known = servers.get(serverKeyOf(request))
    if (known !== undefined) known.receive(request)
    else if (request.method === 'ACK') handlers?.onAck(request)
    else if (servers.size < maxTransactions) openServerTransaction(request, source)
  }

  const openServerTransaction = (request: SipRequest, source: Source): void => {
    const key = serverKeyOf(request)
    const send = createResponseSender(request, source, transportOf(source.protocol))
    const isInvite = request.method === 'INVITE'
    const transaction = new (isInvite ? InviteServerTransaction : NonInviteServerTransaction)({
      request,
      send: (response) => send(serializeMessage(response)),
      isReliable: isReliable(source.protocol),
      timing,
      scheduler,
      onTerminated: () => servers.delete(key),
    })
    servers.set(key, transaction)
    handlers?.onRequest(transaction, source)
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
        listener.onTerminated?.()
      },
    },
  })

  const begin = <T extends InviteClientTransaction | NonInviteClientTransaction>(
    key: string,
    transaction: T,
  ): T => {
    clients.set(key, transaction)
    transaction.start()
    return transaction
  }

  return {
    start: async (given) => {
      handlers = given
      for (const transport of transports.values()) await transport.start(receiveSafely)
    },
    stop: async () => {
      for (const transaction of [...clients.values(), ...servers.values()]) transaction.terminate()
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
    startInvite: (request, hop, listener) => {
      const key = clientKeyOf(request)
      return begin(key, new InviteClientTransaction(clientOptions(request, hop, listener, key)))
    },
    startRequest: (request, hop, listener) => {
      const key = clientKeyOf(request)
      return begin(key, new NonInviteClientTransaction(clientOptions(request, hop, listener, key)))
    },
    sendAck: (request, { destination }) => {
      createSender(transportOf(destination.protocol), destination)(request).catch(() => {})
    },
    findInvite: (cancel) => servers.get(serverKeyOf(cancel, 'INVITE')),
  }
}

const createSender =
  (transport: Transport, destination: Destination) =>
  (message: SipMessage): Promise<void> =>
    transport.send(serializeMessage(message), destination)

const refusalPhrase = (status: number, reason: string): string =>
  status === 400 ? `Bad Request (${reason})` : reason
