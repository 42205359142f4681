import { once } from 'node:events'
import { connect, createServer, isIPv6, type AddressInfo, type Server, type Socket } from 'node:net'
import {
  connect as connectTls,
  createServer as createTlsServer,
  type ConnectionOptions,
  type TlsOptions,
} from 'node:tls'
import { createInboundConnections, maxInboundConnections } from './inbound-connections.ts'
import { createMessageFramer } from '../message/message-framer.ts'
import type { Destination, ReceiveHandler, Source, Transport } from './transport.ts'
import { hostPort } from '../message/uri.ts'

export interface StreamTransportOptions {
  readonly bindAddress: string
  /** The port to listen on, asked at start; any free one where it is taken. Without it we only connect out. */
  readonly listenPort?: () => number
  readonly connectTimeoutMs?: number
  /** How often an idle connection we opened is kept alive with a double CRLF (RFC 5626 3.5.1). */
  readonly keepAliveMs?: number
}

export interface TlsTransportOptions extends StreamTransportOptions {
  /** Trust and client certificate for connections we open; certificates are always verified. */
  readonly client?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>
  /** Certificate and key for connections we take; needed to listen. */
  readonly server?: Pick<TlsOptions, 'ca' | 'cert' | 'key' | 'requestCert'>
}

const maxConnections = 1024
const handshakeTimeoutMs = 10_000
// Bytes a peer may leave unread before we give the connection up.
const maxUnsentBytes = 1024 * 1024

/** SIP over TCP (RFC 3261 18). Connections are reused in both directions by their remote address. */
export const createTcpTransport = (options: StreamTransportOptions): Transport =>
  createStreamTransport('tcp', options, {
    connect: ({ address, port }) => connect({ host: address, port }),
    createServer: (onConnection) => createServer(onConnection),
    connectedEvent: 'connect',
  })

/** SIP over TLS. The peer's certificate must be valid for the name it was addressed by. */
export const createTlsTransport = (options: TlsTransportOptions): Transport =>
  createStreamTransport('tls', options, {
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

const createStreamTransport = (
  protocol: 'tcp' | 'tls',
  options: StreamTransportOptions,
  kind: StreamKind,
): Transport => {
  const connections = new Map<string, Promise<Socket>>()
  const open = new Set<Socket>()
  const inbound = createInboundConnections()
  let receive: ReceiveHandler = () => {}
  let server: Server | undefined

  const adopt = (socket: Socket, key: string): void => {
    open.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      open.delete(socket)
      connections.delete(key)
    })
    readMessages(socket, (bytes, source) => {
      inbound.heard(socket)
      receive(bytes, { ...source, protocol })
    })
  }

  const take = (socket: Socket): void => {
    const source = sourceOf(socket)
    if (inbound.size >= maxInboundConnections) return void socket.destroy()
    const key = hostPort(source.address, source.port)
    adopt(socket, key)
    inbound.add(socket, source.address)
    connections.set(key, Promise.resolve(socket))
  }

  const connected = (destination: Destination): Promise<Socket> => {
    const key = hostPort(destination.address, destination.port)
    const known = connections.get(key)
    if (known !== undefined) return known
    if (open.size >= maxConnections) return Promise.reject(new Error('too many SIP connections'))
    const socket = kind.connect(destination)
    adopt(socket, key)
    const ready = awaitConnection(socket, kind.connectedEvent, options.connectTimeoutMs ?? 5000)
    connections.set(key, ready)
    ready.then(
      () => {
        keepAlive(socket, options.keepAliveMs ?? 30_000)
      },
      () => connections.delete(key),
    )
    return ready
  }

  return {
    protocol,
    start: async (handler, admits) => {
      receive = handler
      if (options.listenPort === undefined) return
      server = kind.createServer(take)
      // Before a handshake costs anything, and without a byte to whoever scans.
      server.prependListener('connection', (socket: Socket) => {
        if (!admits({ ...sourceOf(socket), protocol })) socket.resetAndDestroy()
      })
      await listen(server, options.bindAddress, options.listenPort())
      server.on('error', () => {})
    },
    stop: async () => {
      const closing = server
      server = undefined
      const closed = closing === undefined ? undefined : once(closing, 'close')
      closing?.close()
      for (const socket of open) socket.destroy()
      await closed
    },
    get localPort() {
      return (server?.address() as AddressInfo | null | undefined)?.port ?? 0
    },
    prepare: async (destination) => plainAddress((await connected(destination)).localAddress ?? ''),
    send: async (bytes, destination) => write(await connected(destination), bytes),
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
  const framer = createMessageFramer(() => socket.write('\r\n'))
  let source: Omit<Source, 'protocol'> | undefined
  socket.on('data', (bytes: Buffer) => {
    source ??= sourceOf(socket)
    try {
      for (const message of framer.push(bytes)) receive(message, source)
    } catch {
      // The borders of messages are lost: nothing after this point could be trusted.
      socket.destroy()
    }
  })
}

// Read while the socket lives: a closed one no longer knows its peer.
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
