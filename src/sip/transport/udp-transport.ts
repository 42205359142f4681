import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { connectUdp, receiveBufferBytes, type ConnectedUdp } from './connected-udp.ts'
import type { Source, Transport } from './transport.ts'
import type { Destination } from '../message/destination.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'

/** Decides for a test network which datagrams get lost. */
export type DropDatagram = (direction: 'in' | 'out', bytes: Buffer) => boolean

interface UdpTransportOptions {
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  readonly dropDatagram?: DropDatagram
  /** How often a destination in use gets a double CRLF, so that NATs keep their binding. */
  readonly keepAliveMs?: number
}

const maxKnownRoutes = 256
/** Destinations with their own socket; beyond the limit the oldest is closed. */
const maxConnected = 16
/** Shorter than the 30 s after which the strictest NATs forget a binding (RFC 4787 4.3). */
const defaultKeepAliveMs = 25_000
/** How long after its last use a destination is kept: longer than the longest call. */
const keptMs = 65 * 60_000
const ping = Buffer.from('\r\n\r\n')

/** SIP over UDP (RFC 3261 18): one datagram, one message. */
export const createUdpTransport = (options: UdpTransportOptions): Transport => {
  const family = isIPv6(options.bindAddress) ? 'udp6' : 'udp4'
  const drops = options.dropDatagram ?? (() => false)
  const findLocalAddress = createLocalAddressFinder(options.bindAddress, family)
  let socket: Socket | undefined
  const connections = new Map<string, Promise<ConnectedUdp | undefined>>()
  const uses = new Map<string, { readonly destination: Destination; atMs: number }>()
  let keeper: NodeJS.Timeout | undefined
  let onMessage: (bytes: Buffer, remote: RemoteInfo) => void = () => {}
  /** Undefined if the system gives none: a refusal is then noticed by time-out. */
  const connectTo = (destination: Destination): Promise<ConnectedUdp | undefined> =>
    connectUdp({
      family,
      bindAddress: options.bindAddress,
      port: socket?.address().port ?? 0,
      destination,
      receive: (bytes, remote) => onMessage(bytes, remote),
    }).catch(() => undefined)
  const keepConnected = async (destination: Destination): Promise<void> => {
    const key = keyOf(destination)
    uses.set(key, { destination, atMs: performance.now() })
    if (socket === undefined || connections.has(key)) return
    const [oldest] = connections.size >= maxConnected ? connections.keys() : []
    if (oldest !== undefined) await forget(oldest)
    connections.set(key, connectTo(destination))
  }
  const forget = async (key: string): Promise<void> => {
    const connection = connections.get(key)
    connections.delete(key)
    uses.delete(key)
    await connection?.then((connected) => connected?.close())
  }
  const send = async (bytes: Buffer, destination: Destination): Promise<void> => {
    if (drops('out', bytes)) return
    const connected = await connections.get(keyOf(destination))
    await (connected ? connected.send(bytes) : sendDatagram(socket, bytes, destination))
  }
  const keepBindings = (): void => {
    for (const [key, { destination, atMs }] of uses) {
      if (performance.now() - atMs > keptMs) void forget(key)
      // A refusal is no news: the next request finds it out.
      else void send(ping, destination).catch(() => {})
    }
  }
  return {
    protocol: 'udp',
    start: async ({ receive }) => {
      socket = await bind(family, options)
      onMessage = (bytes, remote) => {
        if (!drops('in', bytes)) receive(bytes, sourceOf(remote, send))
      }
      // The sender notices errors of single datagrams by time-out.
      socket.on('error', () => {})
      socket.on('message', onMessage)
      keeper = setInterval(keepBindings, options.keepAliveMs ?? defaultKeepAliveMs).unref()
    },
    stop: async () => {
      clearInterval(keeper)
      const closing = socket
      socket = undefined
      await Promise.all([...connections.keys()].map(forget))
      if (closing === undefined) return
      closing.close()
      await once(closing, 'close')
    },
    get localPort() {
      return socket?.address().port ?? 0
    },
    prepare: async (destination) => {
      await keepConnected(destination)
      const address = await findLocalAddress(destination)
      return { address, port: socket?.address().port ?? 0 }
    },
    send,
    isRefusing: async (destination) =>
      (await connections.get(keyOf(destination)))?.isRefusing ?? false,
  }
}

const keyOf = ({ address, port }: Destination): string => `${address} ${port}`

/**
 * Connected sockets share this port, and each must allow that. Sharing would let another process in too, so the
 * port is first bound without it.
 */
const bind = async (
  family: 'udp4' | 'udp6',
  { bindAddress, port }: UdpTransportOptions,
): Promise<Socket> => {
  const probe = await listenOn(createSocket({ type: family }), bindAddress, port)
  const free = probe.address().port
  const closed = once(probe, 'close')
  probe.close()
  await closed
  const socket = await listenOn(createSocket({ type: family, reuseAddr: true }), bindAddress, free)
  try {
    socket.setRecvBufferSize(receiveBufferBytes)
  } catch {
    // The system's limit applies then; retransmission compensates for a burst's losses.
  }
  return socket
}

const listenOn = async (socket: Socket, address: string, port: number): Promise<Socket> => {
  try {
    socket.bind({ address, port })
    await once(socket, 'listening')
    return socket
  } catch (cause) {
    socket.close()
    throw new Error(`SIP cannot listen on ${address}, UDP port ${port}`, { cause })
  }
}

const sourceOf = (remote: RemoteInfo, send: Transport['send']): Source => {
  const destination: Destination = {
    protocol: 'udp',
    address: remote.address,
    port: remote.port,
  }
  return { ...destination, reply: (bytes) => send(bytes, destination) }
}

const sendDatagram = (
  socket: Socket | undefined,
  bytes: Buffer,
  { address, port }: Destination,
): Promise<void> => {
  if (socket === undefined) return Promise.reject(new Error('the UDP transport is stopped'))
  return new Promise((resolve, reject) => {
    socket.send(bytes, port, address, (error) => {
      if (error === null) resolve()
      else reject(error)
    })
  })
}

/** The source address of our datagrams to a destination: the bound one, or the routing table's choice. */
const createLocalAddressFinder = (
  bindAddress: string,
  family: 'udp4' | 'udp6',
): ((destination: Destination) => Promise<string>) => {
  const known = new BoundedMap<string, string>({ maxSize: maxKnownRoutes })
  const isWildcard = bindAddress === '0.0.0.0' || bindAddress === '::'
  return async ({ address, port }) => {
    if (!isWildcard) return bindAddress
    const remembered = known.get(address)
    if (remembered !== undefined) return remembered
    const local = await askRoutingTable(family, address, port)
    known.set(address, local)
    return local
  }
}

// Connecting a UDP socket sends nothing; it only makes the kernel choose the source address.
const askRoutingTable = async (
  family: 'udp4' | 'udp6',
  address: string,
  port: number,
): Promise<string> => {
  const probe = createSocket({ type: family })
  try {
    probe.connect(port, address)
    await once(probe, 'connect')
    return probe.address().address
  } finally {
    probe.close()
  }
}
