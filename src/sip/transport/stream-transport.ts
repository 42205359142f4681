import { once } from 'node:events'
import { connect, createServer, isIPv6, type AddressInfo, type Server, type Socket } from 'node:net'
import {
  connect as connectTls,
  createServer as createTlsServer,
  type ConnectionOptions,
  type TlsOptions,
} from 'node:tls'
import { createInboundConnections, maxInboundConnections } from './inbound-connections.ts'
import { MessageFramer } from '../message/message-framer.ts'
import type { AdmitConnection, ReceiveHandler, Source, Transport } from './transport.ts'
import type { Destination } from '../message/destination.ts'
import { hostPort } from '../message/uri.ts'

interface StreamTransportOptions {
  readonly bindAddress: string
  /**
   * The port to listen on, requested at start; any free one if it is in use. Without it we only open connections.
   */
  readonly listenPort?: () => number
  readonly connectTimeoutMs?: number
  /** How often an idle connection we opened is kept alive with a double CRLF (RFC 5626 3.5.1). */
  readonly keepAliveMs?: number
}

export interface TlsTransportOptions extends StreamTransportOptions {
  /** Trust and client certificate for connections we open; certificates are always verified. */
  readonly client?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>
  /** Certificate and key for accepted connections; needed to listen. */
  readonly server?: Pick<TlsOptions, 'ca' | 'cert' | 'key' | 'requestCert'>
}

const maxConnections = 1024
const handshakeTimeoutMs = 10_000
// Bytes that a peer may leave unread before we drop the connection.
const maxUnsentBytes = 1024 * 1024

/** SIP over TCP (RFC 3261 18). Connections are reused in both directions by their remote address. */
export const createTcpTransport = (options: StreamTransportOptions): Transport =>
  new StreamTransport('tcp', options, {
    connect: ({ address, port }) => connect({ host: address, port }),
    createServer: (onConnection) => createServer(onConnection),
    connectedEvent: 'connect',
  })

/** SIP over TLS. The peer's certificate must be valid for the name it was addressed by. */
export const createTlsTransport = (options: TlsTransportOptions): Transport =>
  new StreamTransport('tls', options, {
    connect: ({ address, port, serverName }) =>
      connectTls({
        host: address,
        port,
        ...options.client,
        ...(serverName === undefined ? {} : { servername: serverName }),
      }),
    createServer: (onConnection) =>
      createTlsServer({ ...options.server, handshakeTimeout: handshakeTimeoutMs }, onConnection),
    connectedEvent: 'secureConnect',
  })

interface StreamKind {
  connect(destination: Destination): Socket
  createServer(onConnection: (socket: Socket) => void): Server
  readonly connectedEvent: 'connect' | 'secureConnect'
}

class StreamTransport implements Transport {
  readonly protocol: 'tcp' | 'tls'
  readonly #options: StreamTransportOptions
  readonly #kind: StreamKind
  readonly #connections = new Map<string, Promise<Socket>>()
  readonly #open = new Set<Socket>()
  readonly #inbound = createInboundConnections()
  #receive: ReceiveHandler = () => {}
  #server: Server | undefined

  constructor(protocol: 'tcp' | 'tls', options: StreamTransportOptions, kind: StreamKind) {
    this.protocol = protocol
    this.#options = options
    this.#kind = kind
  }

  async start(receive: ReceiveHandler, admits: AdmitConnection): Promise<void> {
    this.#receive = receive
    const { bindAddress, listenPort } = this.#options
    if (listenPort === undefined) return
    const server = this.#kind.createServer((socket) => this.#take(socket))
    this.#server = server
    // Before the cost of a handshake, and without a byte to a scanner.
    server.prependListener('connection', (socket: Socket) => {
      if (!admits({ ...sourceOf(socket), protocol: this.protocol })) socket.resetAndDestroy()
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
    await closed
  }

  get localPort(): number {
    return (this.#server?.address() as AddressInfo | null | undefined)?.port ?? 0
  }

  async prepare(destination: Destination): Promise<string> {
    return plainAddress((await this.#connected(destination)).localAddress ?? '')
  }

  async send(bytes: Buffer, destination: Destination): Promise<void> {
    return write(await this.#connected(destination), bytes)
  }

  /** A connection that a peer opened to us. */
  #take(socket: Socket): void {
    const source = sourceOf(socket)
    if (this.#inbound.size >= maxInboundConnections) return void socket.destroy()
    const key = hostPort(source.address, source.port)
    this.#adopt(socket, key)
    this.#inbound.add(socket, source.address)
    this.#connections.set(key, Promise.resolve(socket))
  }

  #connected(destination: Destination): Promise<Socket> {
    const key = hostPort(destination.address, destination.port)
    return this.#connections.get(key) ?? this.#connect(destination, key)
  }

  #connect(destination: Destination, key: string): Promise<Socket> {
    if (this.#open.size >= maxConnections)
      return Promise.reject(new Error('too many SIP connections'))
    const { connectTimeoutMs = 5000, keepAliveMs = 30_000 } = this.#options
    const socket = this.#kind.connect(destination)
    this.#adopt(socket, key)
    const ready = awaitConnection(socket, this.#kind.connectedEvent, connectTimeoutMs)
    this.#connections.set(key, ready)
    ready.then(
      () => keepAlive(socket, keepAliveMs),
      () => this.#connections.delete(key),
    )
    return ready
  }

  #adopt(socket: Socket, key: string): void {
    this.#open.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#open.delete(socket)
      this.#connections.delete(key)
    })
    readMessages(socket, (bytes, source) => {
      this.#inbound.heard(socket)
      this.#receive(bytes, { ...source, protocol: this.protocol })
    })
  }
}

const listen = async (server: Server, host: string, port: number): Promise<void> => {
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch {
    server.listen({ host, port: 0 })
    await once(server, 'listening')
  }
}

const awaitConnection = async (
  socket: Socket,
  connectedEvent: string,
  timeoutMs: number,
): Promise<Socket> => {
  try {
    await once(socket, connectedEvent, { signal: AbortSignal.timeout(timeoutMs) })
    return socket
  } catch (cause) {
    socket.destroy()
    throw new Error('the SIP connection could not be opened', { cause })
  }
}

const readMessages = (
  socket: Socket,
  receive: (bytes: Buffer, source: Omit<Source, 'protocol'>) => void,
): void => {
  const framer = new MessageFramer(() => socket.write('\r\n'))
  let source: Omit<Source, 'protocol'> | undefined
  socket.on('data', (bytes: Buffer) => {
    source ??= sourceOf(socket)
    try {
      for (const message of framer.push(bytes)) receive(message, source)
    } catch {
      // The message borders are lost: nothing after this point can be trusted.
      socket.destroy()
    }
  })
}

// Read while the socket is open: a closed one no longer knows its peer.
const sourceOf = (socket: Socket): Omit<Source, 'protocol'> => ({
  address: plainAddress(socket.remoteAddress ?? ''),
  port: socket.remotePort ?? 0,
  reply: (bytes) => write(socket, bytes),
})

// A dual-stack listener reports IPv4 peers as ::ffff:192.0.2.1.
const plainAddress = (address: string): string =>
  isIPv6(address) ? address.replace(/^::ffff:(?=\d+\.)/i, '') : address

const write = (socket: Socket, bytes: Buffer): Promise<void> => {
  if (socket.writableLength > maxUnsentBytes) socket.destroy()
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => {
      if (error === null || error === undefined) resolve()
      else reject(error)
    })
  })
}

const keepAlive = (socket: Socket, intervalMs: number): void => {
  const timer = setInterval(() => socket.write('\r\n\r\n'), intervalMs)
  timer.unref()
  socket.on('close', () => {
    clearInterval(timer)
  })
}
