import type { Hop } from './hop.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { ClientTransactionListener, ClientTransactionOptions } from './client-transaction.ts'
import type { DropCounter } from '../gate/drop-counter.ts'
import { tagOf, topVia } from '../message/headers.ts'
import { InviteClientTransaction } from './invite-client-transaction.ts'
import { InviteServerTransaction } from './invite-server-transaction.ts'
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
import { NonInviteClientTransaction } from './non-invite-client-transaction.ts'
import { NonInviteServerTransaction } from './non-invite-server-transaction.ts'
import { parseMessage, type ParseResult } from '../message/parse-message.ts'
import type { RequestGate } from '../gate/request-gate.ts'
import type { SipResolver } from '../transport/resolver.ts'
import { createResponseSender, stampTopVia } from '../transport/response-routing.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import { createDestinationHealth, type DestinationHealth } from '../transport/destination-health.ts'
import { mayAnswerFor } from '../gate/sources.ts'
import type { Time } from '../../runtime/time.ts'
import { createOwnViews } from './own-views.ts'
import { createServerTable, type TableShare } from './server-table.ts'
import type { ServerTransaction } from './server-transaction.ts'
import { clientKeyOf, clientKeyOfResponse, serverKeyOf } from '../message/transaction-key.ts'
import type { SourceLimiter } from '../gate/source-limiter.ts'
import type { SipSources } from '../gate/sources.ts'
import { createMessageTraces, type MessageTraces } from './message-traces.ts'
import { createStatelessRefusals, type RefuseStatelessly } from '../gate/stateless-refusals.ts'
import type { TransactionTiming } from './transaction-timing.ts'
import { isReliable, type Source, type Transport } from '../transport/transport.ts'
import type { Destination, TransportProtocol } from '../message/destination.ts'
import { hostPort, parseSipUri } from '../message/uri.ts'

/** A request that belongs to no open transaction. It costs no memory before `open`. */
export interface ArrivedRequest {
  readonly request: SipRequest
  readonly source: Source
  /** Opens its transaction, which waits for `respond`; `undefined` if the share of the table is used up. */
  open(share: TableShare): ServerTransaction | undefined
  /** Responds once and stores nothing (RFC 3261 8.2.7); a repeated request gets the same response. */
  refuse(status: number, headers?: readonly Header[]): void
}

/** What reaches the transaction user. */
export interface SignallingHandlers {
  onRequest(arrival: ArrivedRequest): void
  /** An ACK that belongs to no transaction: it acknowledges a 2xx (RFC 3261 17.1.1.3). */
  onAck(request: SipRequest, source: Source): void
  /** Contacts that named a connection to there lead nowhere any more. */
  onContactLost?(destination: Destination): void
  /** Sends a silent peer a request; resolves after its response, or when it took too long. */
  askPeer?(destination: Destination): Promise<void>
}

interface SignallingOptions {
  readonly transports: ReadonlyMap<TransportProtocol, Transport>
  readonly resolver: SipResolver
  readonly timing: TransactionTiming
  readonly time: Time
  /** Replaces our own address in Via and Contact, behind a 1:1 NAT. */
  readonly advertisedAddress?: string
  readonly gate: RequestGate
  readonly sources: SipSources
  readonly known: KnownCalls
  readonly drops: DropCounter
  /** Responses to requests outside of dialogs that one address may cause. */
  readonly answers: SourceLimiter
  readonly logger: Logger
}

type ParseFailure = Extract<ParseResult, { ok: false }>

const maxServersWithoutTcp = 1024
const withoutTcpMs = 10 * 60_000
/** Addresses of one name that a request inside a dialog tries. */
const maxPreparedHops = 4

interface Client {
  readonly transaction: InviteClientTransaction | NonInviteClientTransaction
  readonly destination: Destination
}

/** Transports and transactions together: what RFC 3261 5 calls the layers below the transaction user. */
export class Signalling {
  /** The messages of calls that somebody follows. */
  readonly traces: MessageTraces = createMessageTraces()
  readonly #options: SignallingOptions
  readonly #clients = new Map<string, Client>()
  readonly #servers = createServerTable()
  readonly #views = createOwnViews()
  /** Which addresses failed lately. */
  readonly health: DestinationHealth
  /** Servers that take no connections where they take datagrams. */
  readonly #withoutTcp: BoundedMap<string, true>
  readonly #refuse: RefuseStatelessly
  #handlers: SignallingHandlers | undefined

  constructor(options: SignallingOptions) {
    this.#options = options
    const { answers, drops, time } = options
    this.health = createDestinationHealth(time)
    this.#withoutTcp = new BoundedMap({
      maxSize: maxServersWithoutTcp,
      age: { maxMs: withoutTcpMs, clock: time },
    })
    const transportOf = (protocol: TransportProtocol): Transport => this.#transportOf(protocol)
    this.#refuse = createStatelessRefusals({ transportOf, answers, drops })
  }

  async start(handlers: SignallingHandlers): Promise<void> {
    this.#handlers = handlers
    const { transports, gate } = this.#options
    for (const transport of transports.values())
      await transport.start({
        receive: (bytes, source) => this.#receiveSafely(bytes, source),
        admits: (source) => gate.admitsConnection(source),
        onLost: (destination, reason, isUnread) => {
          this.#connectionLost(destination, reason, isUnread)
        },
        askPeer: async (destination) => handlers.askPeer?.(destination),
      })
  }

  /** Ends every transaction and closes every socket. */
  async stop(): Promise<void> {
    const { transports, drops } = this.#options
    for (const { transaction } of this.#clients.values()) transaction.terminate()
    for (const transaction of this.#servers.all()) transaction.terminate()
    drops.stop()
    await Promise.all([...transports.values()].map((transport) => transport.stop()))
  }

  get localPort(): number {
    return this.portOf('udp')
  }

  /** The port where a transport listens; 0 where it does not. */
  portOf(protocol: TransportProtocol): number {
    return this.#options.transports.get(protocol)?.localPort ?? 0
  }

  /** Every address of a URI in the order of trial, at least one (RFC 3263). Rejects with an `Error`. */
  async locate(uri: string): Promise<readonly Destination[]> {
    const parsed = parseSipUri(uri)
    if (parsed === undefined) throw new Error('the URI is not a SIP URI')
    return this.health.order(await this.#options.resolver.locate(parsed))
  }

  /** The first hop of a URI that can be prepared. Rejects with the `Error` of the first one. */
  async route(uri: string): Promise<Hop> {
    const [first, ...others] = (await this.locate(uri)).slice(0, maxPreparedHops)
    if (first === undefined) throw new Error('the URI has no address')
    try {
      return await this.hopTo(first)
    } catch (error) {
      for (const other of others) {
        const hop = await this.hopTo(other).catch(() => undefined)
        if (hop !== undefined) return hop
      }
      throw error
    }
  }

  /** The next hop at a known address, its transport prepared. Rejects with an `Error`. */
  async hopTo(destination: Destination): Promise<Hop> {
    const transport = this.#transportOf(destination.protocol)
    const local = await transport.prepare(destination).catch((error: unknown) => {
      this.health.failed(destination)
      throw error
    })
    const { advertisedAddress } = this.#options
    const localHost = advertisedAddress ?? local.address
    const localHostPort = hostPort(localHost, local.port)
    const isNamed = advertisedAddress !== undefined && transport.localPort !== 0
    const seen = isNamed ? undefined : this.#views.of(destination)
    return { destination, localHost, localHostPort, contactHostPort: seen ?? localHostPort }
  }

  /** Our address and port as the hop sees them through a NAT; `undefined` where it sees our own. */
  viewFrom({ destination }: Hop): string | undefined {
    return this.#views.of(destination)
  }

  /**
   * The same server by TCP, for a request that a datagram should not carry (RFC 3261 18.1.1); the hop itself where
   * nothing listens there.
   */
  async wideHop(hop: Hop): Promise<Hop> {
    const { address, port } = hop.destination
    const key = hostPort(address, port)
    if (hop.destination.protocol !== 'udp' || this.#withoutTcp.has(key)) return hop
    try {
      return await this.hopTo({ ...hop.destination, protocol: 'tcp' })
    } catch {
      this.#withoutTcp.set(key, true)
      return hop
    }
  }

  /** Whether the hop refuses datagrams, as far as its transport knows. */
  async isRefusing({ destination }: Hop): Promise<boolean> {
    return (await this.#transportOf(destination.protocol).isRefusing?.(destination)) ?? false
  }

  startInvite(
    request: SipRequest,
    hop: Hop,
    listener: ClientTransactionListener,
  ): InviteClientTransaction {
    const settings = this.#clientOptions(request, hop, listener)
    return this.#begin(request, hop, new InviteClientTransaction(settings))
  }

  startRequest(
    request: SipRequest,
    hop: Hop,
    listener: ClientTransactionListener,
  ): NonInviteClientTransaction {
    const settings = this.#clientOptions(request, hop, listener)
    return this.#begin(request, hop, new NonInviteClientTransaction(settings))
  }

  /** Sends an ACK to a 2xx, which has no transaction. The repeated 2xx compensates for losses. */
  sendAck(request: SipRequest, { destination }: Hop): void {
    this.#senderTo(destination)(request).catch(() => {})
  }

  /** The INVITE transaction that a CANCEL refers to (RFC 3261 9.2). */
  findInvite(cancel: SipRequest): ServerTransaction | undefined {
    return this.#servers.find(serverKeyOf(cancel, 'INVITE'))
  }

  // The boundary of everything a peer can cause: our bug in one message must not end the others' calls.
  #receiveSafely(bytes: Buffer, source: Source): void {
    try {
      if (this.#options.gate.admits(bytes, source)) this.#receive(bytes, source)
    } catch (error) {
      this.#options.logger.error({ err: error }, 'SIP message could not be handled')
    }
  }

  #receive(bytes: Buffer, source: Source): void {
    const parsed = parseMessage(bytes, largestOf(source.protocol))
    if (!parsed.ok) this.#receiveUnreadable(parsed, source)
    else if (parsed.message.kind === 'response') this.#receiveResponse(parsed.message, source)
    else this.#receiveRequest(stampTopVia(parsed.message, source), source)
  }

  #receiveUnreadable({ reason, status, request }: ParseFailure, source: Source): void {
    const { logger, sources } = this.#options
    logger.debug({ reason, from: source.address }, 'SIP message refused')
    if (request === undefined || !sources.admits(source)) return
    const phrase = refusalPhrase(status, reason)
    this.#refuse(stampTopVia(request, source), source, status, { reason: phrase })
  }

  #receiveResponse(response: SipResponse, source: Source): void {
    const key = clientKeyOfResponse(response)
    const client = key === undefined ? undefined : this.#clients.get(key)
    if (client === undefined) return
    const { sources, drops } = this.#options
    if (!mayAnswerFor(client.destination, source, sources))
      return drops.count('foreign_response', source.address)
    if (source.address === client.destination.address)
      this.#views.learn(client.destination, response)
    this.health.works(client.destination)
    this.traces.note('received', response, source)
    client.transaction.receive(response)
  }

  /** Requests without a response are sent again over a new connection. */
  #connectionLost(lost: Destination, reason: string, isUnread: boolean): void {
    this.#views.forget(lost)
    for (const { transaction, destination } of this.#clients.values())
      if (isSameEnd(destination, lost)) transaction.connectionLost(new Error(reason), isUnread)
    if (this.portOf(lost.protocol) === 0) this.#handlers?.onContactLost?.(lost)
  }

  #receiveRequest(request: SipRequest, source: Source): void {
    this.traces.note('received', request, source)
    const transaction = this.#servers.find(serverKeyOf(request))
    if (transaction !== undefined) transaction.receive(request)
    else if (request.method === 'ACK') this.#handlers?.onAck(request, source)
    else this.#handlers?.onRequest(this.#arrivalOf(request, source))
  }

  #arrivalOf(request: SipRequest, source: Source): ArrivedRequest {
    return {
      request,
      source,
      open: (share) => this.#openServerTransaction(request, source, share),
      refuse: (status, headers = []) => this.#refuse(request, source, status, { headers }),
    }
  }

  #openServerTransaction(
    request: SipRequest,
    source: Source,
    share: TableShare,
  ): ServerTransaction | undefined {
    const { known, drops, timing, time } = this.#options
    if (!this.#servers.hasRoom(share)) {
      drops.count('table_full', source.address)
      return undefined
    }
    const key = serverKeyOf(request)
    const [sipCallId, token] = [headerOf(request, 'call-id') ?? '', branchOf(request)]
    const send = createResponseSender(request, source, this.#transportOf(source.protocol))
    const isInvite = request.method === 'INVITE'
    const transaction = new (isInvite ? InviteServerTransaction : NonInviteServerTransaction)({
      request,
      send: (response) => {
        this.traces.note('sent', response, source)
        return send(serializeMessage(response))
      },
      isReliable: isReliable(source.protocol),
      isProven: share !== 'outside',
      timing,
      time,
      onTerminated: () => {
        this.#servers.remove(key)
        known.remove(sipCallId, token)
      },
    })
    this.#servers.add(key, transaction, share)
    known.add(sipCallId, token)
    return transaction
  }

  #clientOptions(
    request: SipRequest,
    { destination }: Hop,
    listener: ClientTransactionListener,
  ): ClientTransactionOptions {
    const { timing, time } = this.#options
    const key = clientKeyOf(request)
    const forget = this.#awaitAnswers(request, destination)
    return {
      request,
      send: this.#senderTo(destination),
      renew: (sinceMs) =>
        this.#transportOf(destination.protocol).renew?.(destination, sinceMs) ??
        Promise.resolve(false),
      isReliable: isReliable(destination.protocol),
      timing,
      time,
      listener: {
        onResponse: listener.onResponse,
        onTimeout: listener.onTimeout,
        onTransportError: listener.onTransportError,
        onTerminated: () => {
          this.#clients.delete(key)
          forget()
          listener.onTerminated?.()
        },
      },
    }
  }

  /** Its responses are accepted until the returned function is called. */
  #awaitAnswers(request: SipRequest, destination: Destination): () => void {
    const { known, gate } = this.#options
    const [sipCallId, tag] = [headerOf(request, 'call-id') ?? '', tagOf(request, 'from') ?? '']
    known.add(sipCallId, tag)
    const unexpect = gate.expect(destination)
    return () => {
      known.remove(sipCallId, tag)
      unexpect()
    }
  }

  #begin<T extends InviteClientTransaction | NonInviteClientTransaction>(
    request: SipRequest,
    { destination }: Hop,
    transaction: T,
  ): T {
    this.#clients.set(clientKeyOf(request), { transaction, destination })
    transaction.start()
    return transaction
  }

  #senderTo(destination: Destination): (message: SipMessage) => Promise<void> {
    const transport = this.#transportOf(destination.protocol)
    return (message) => {
      this.traces.note('sent', message, destination)
      return transport.send(serializeMessage(message), destination)
    }
  }

  #transportOf(protocol: TransportProtocol): Transport {
    const transport = this.#options.transports.get(protocol)
    if (transport === undefined) throw new Error(`the ${protocol} transport is not enabled`)
    return transport
  }
}

const isSameEnd = (a: Destination, b: Destination): boolean =>
  a.protocol === b.protocol && a.address === b.address && a.port === b.port

const branchOf = (request: SipRequest): string => topVia(request)?.parameters.get('branch') ?? ''

const refusalPhrase = (status: number, reason: string): string =>
  status === 400 ? `Bad Request (${reason})` : reason

const largestOf = (protocol: TransportProtocol): number =>
  protocol === 'udp' ? messageLimits.maxDatagramBytes : messageLimits.maxBytes
