import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import { createInboundConnections } from './inbound-connections.ts'
import { createKeepAlive, defaultKeepAlive, type KeepAliveTimes } from './keep-alive.ts'
import {
  awaitConnection,
  plainAddress,
  readConnection,
  sourceOf,
  writeTo,
  type StreamConnection,
} from './stream-connection.ts'
import { connectTlsClient, explainConnectionError, type TlsClientSettings } from './tls-client.ts'
import type { LocalEnd, Transport, TransportEvents } from './transport.ts'
import type { Destination } from '../message/destination.ts'
import { hostPort } from '../message/uri.ts'

interface StreamTransportOptions {
  readonly bindAddress: string
  /**
   * The port to listen on, requested at start; any free one if it is in use. Without it we only open connections.
   */
  readonly listenPort?: () => number
  readonly connectTimeoutMs?: number
  /** How connections that we opened are kept alive. */
  readonly keepAlive?: KeepAliveTimes
}

export interface TlsTransportOptions extends StreamTransportOptions {
  /** Trust and client certificate for the connections we open, for all or by destination. */
  readonly client?: TlsClientSettings | ((destination: Destination) => TlsClientSettings)
  /** Certificate and key for accepted connections; needed to listen. A function is asked at each connection. */
  readonly server?: TlsServerSettings | (() => TlsServerSettings)
}

type TlsServerSettings = Pick<TlsOptions, 'ca' | 'cert' | 'key' | 'requestCert'>

const maxConnections = 1024
const handshakeTimeoutMs = 10_000
/** Shorter than the 4 s that a trunk has for a call, so that another address can be tried. */
const defaultConnectTimeoutMs = 3000
/** Addresses whose name for certificates is remembered. */
const maxNames = 1024

/** SIP over TCP (RFC 3261 18). Connections are reused in both directions by their remote address. */
export const createTcpTransport = (options: StreamTransportOptions): Transport =>
  new StreamTransport('tcp', options, {
    connect: ({ address, port }) => connect({ host: address, port }),
    createServer: (onConnection) => createServer(onConnection),
    connectedEvent: 'connect',
  })

/** SIP over TLS. The peer's certificate must be valid for the name it was addressed by. */
export const createTlsTransport = (options: TlsTransportOptions): Transport => {
  const { client = {} } = options
  const settingsFor = typeof client === 'function' ? client : () => client
  return new StreamTransport('tls', options, {
    connect: (destination) => connectTlsClient(destination, settingsFor(destination)),
    createServer: (onConnection) => createRenewedServer(options.server ?? {}, onConnection),
    connectedEvent: 'secureConnect',
  })
}

/** Takes the settings anew where they have changed, before the handshake of the connection that it is asked for. */
const createRenewedServer = (
  settings: TlsServerSettings | (() => TlsServerSettings),
  onConnection: (socket: Socket) => void,
): Server => {
  const settingsNow = typeof settings === 'function' ? settings : () => settings
  let used = settingsNow()
  const server = createTlsServer({ ...used, handshakeTimeout: handshakeTimeoutMs }, onConnection)
  server.prependListener('connection', () => {
    const now = settingsNow()
    if (now === used) return
    used = now
    server.setSecureContext(now)
  })
  return server
}

interface StreamKind {
  connect(destination: Destination): Socket
  createServer(onConnection: (socket: Socket) => void): Server
  readonly connectedEvent: 'connect' | 'secureConnect'
}

class StreamTransport implements Transport {
  readonly protocol: 'tcp' | 'tls'
  readonly #options: StreamTransportOptions
  readonly #kind: StreamKind
  readonly #connections = new Map<string, Promise<StreamConnection>>()
  readonly #open = new Set<Socket>()
  readonly #inbound = createInboundConnections()
  /** A route of a dialog names an address only: its certificate is checked as that of the trunk there. */
  readonly #names = new BoundedMap<string, string>({ maxSize: maxNames })
  #events: TransportEvents = { receive: () => {}, admits: () => false }
  #server: Server | undefined

  constructor(protocol: 'tcp' | 'tls', options: StreamTransportOptions, kind: StreamKind) {
    this.protocol = protocol
    this.#options = options
    this.#kind = kind
  }

  async start(events: TransportEvents): Promise<void> {
    this.#events = events
    const { bindAddress, listenPort } = this.#options
    if (listenPort === undefined) return
    const server = this.#kind.createServer((socket) => this.#take(socket))
    this.#server = server
    // Before the cost of a handshake, and without a byte to a scanner.
    server.prependListener('connection', (socket: Socket) => {
      const source = sourceOf(socket)
      if (!events.admits({ ...source, protocol: this.protocol })) socket.resetAndDestroy()
      else this.#inbound.add(socket, source.address)
    })
    await listen(server, bindAddress, listenPort())
    server.on('error', () => {})
  }

  async stop(): Promise<void> {
    const closing = this.#server
    this.#server = undefined
    const closed = closing === undefined ? undefined : once(closing, 'close')
    closing?.close()
    for (const socket of this.#open) socket.destroy()
    this.#inbound.closeAll()
    await closed
  }

  get localPort(): number {
    return (this.#server?.address() as AddressInfo | null | undefined)?.port ?? 0
  }

  async prepare(destination: Destination): Promise<LocalEnd> {
    const { socket } = await this.#connected(destination)
    const port = this.localPort || (socket.localPort ?? 0)
    return { address: plainAddress(socket.localAddress ?? ''), port }
  }

  async send(bytes: Buffer, destination: Destination): Promise<void> {
    return writeTo((await this.#connected(destination)).socket, bytes)
  }

  async renew(destination: Destination, sinceMs: number): Promise<boolean> {
    const key = keyOf(destination)
    const waiting = this.#connections.get(key)
    const connection = await waiting?.catch(() => undefined)
    if (connection !== undefined && connection.heardAtMs > sinceMs) return false
    // The old one stays open for responses that are on their way, until its keep-alive closes it.
    if (this.#connections.get(key) === waiting) this.#connections.delete(key)
    return true
  }

  /** A connection that a peer opened to us. */
  #take(socket: Socket): void {
    const source = sourceOf(socket)
    const key = hostPort(source.address, source.port)
    const connection = this.#adopt(socket, { ...source, protocol: this.protocol })
    this.#connections.set(key, Promise.resolve(connection))
  }

  #connected(destination: Destination): Promise<StreamConnection> {
    return this.#connections.get(keyOf(destination)) ?? this.#connect(destination)
  }

  #connect(written: Destination): Promise<StreamConnection> {
    if (this.#open.size >= maxConnections)
      return Promise.reject(new Error('too many SIP connections'))
    const destination = this.#named(written)
    const key = keyOf(destination)
    const { connectTimeoutMs = defaultConnectTimeoutMs } = this.#options
    const socket = this.#kind.connect(destination)
    const connection = this.#adopt(socket, destination)
    const open = awaitConnection(socket, this.#kind.connectedEvent, connectTimeoutMs)
    const ready = open.then(
      () => connection,
      (cause: unknown) => {
        if (this.#connections.get(key) === ready) this.#connections.delete(key)
        throw new Error(explainConnectionError(cause), { cause })
      },
    )
    this.#connections.set(key, ready)
    ready.then(
      () => this.#keep(connection, destination),
      () => {},
    )
    return ready
  }

  #named(destination: Destination): Destination {
    const key = keyOf(destination)
    const { serverName = this.#names.get(key) } = destination
    if (serverName === undefined) return destination
    this.#names.set(key, serverName)
    return { ...destination, serverName }
  }

  #keep(connection: StreamConnection, destination: Destination): void {
    const { socket } = connection
    const keepAlive = createKeepAlive(
      {
        ping: () => socket.write('\r\n\r\n'),
        ask: () => this.#events.askPeer?.(destination) ?? Promise.resolve(),
        onDead: () => socket.destroy(),
      },
      this.#options.keepAlive ?? defaultKeepAlive,
    )
    connection.onHeard = (isPong) => {
      keepAlive.heard(isPong)
    }
    socket.once('close', () => {
      keepAlive.stop()
    })
  }

  #adopt(socket: Socket, destination: Destination): StreamConnection {
    const key = keyOf(destination)
    this.#open.add(socket)
    const connection = readConnection(socket, (bytes, source) => {
      this.#inbound.heard(source.address, source.port)
      this.#events.receive(bytes, { ...source, protocol: this.protocol })
    })
    let fault: unknown
    socket.on('error', (error) => (fault ??= error))
    socket.on('close', () => {
      this.#open.delete(socket)
      const reason =
        fault === undefined ? 'the connection was closed' : explainConnectionError(fault)
      void this.#forget(key, connection, () =>
        this.#events.onLost?.(destination, reason, refusedHandshake(fault, connection)),
      )
    })
    return connection
  }

  /** Tells the layers above, unless another connection took its place. */
  async #forget(key: string, connection: StreamConnection, tell: () => void): Promise<void> {
    const waiting = this.#connections.get(key)
    const current = await waiting?.catch(() => undefined)
    if (current !== connection || this.#connections.get(key) !== waiting) return
    this.#connections.delete(key)
    tell()
  }
}

/**
 * With TLS 1.3 a server refuses our certificate only after our side of the handshake. Such a server has read nothing
 * of what we wrote meanwhile.
 */
const refusedHandshake = (fault: unknown, { hasHeard }: StreamConnection): boolean =>
  !hasHeard &&
  fault instanceof Error &&
  'code' in fault &&
  /^ERR_SSL_.*ALERT/.test(String(fault.code))

const keyOf = ({ address, port }: Destination): string => hostPort(address, port)

const listen = async (server: Server, host: string, port: number): Promise<void> => {
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch {
    server.listen({ host, port: 0 })
    await once(server, 'listening')
  }
}
