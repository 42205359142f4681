import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Destination, ReceiveHandler, Source, Transport } from './transport.ts'

/** Tells a test network which datagrams get lost. */
export type DropDatagram = (direction: 'in' | 'out', bytes: Buffer) => boolean

export interface UdpTransportOptions {
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  readonly dropDatagram?: DropDatagram
}

// Signalling comes in bursts; the kernel's default of about 200 kB holds some 200 INVITEs.
const receiveBufferBytes = 4 * 1024 * 1024
const maxKnownRoutes = 256

/** SIP over UDP (RFC 3261 18): one datagram, one message. */
export const createUdpTransport = (options: UdpTransportOptions): Transport => {
  const family = isIPv6(options.bindAddress) ? 'udp6' : 'udp4'
  const drops = options.dropDatagram ?? (() => false)
  const findLocalAddress = createLocalAddressFinder(options.bindAddress, family)
  let socket: Socket | undefined
  const send = async (bytes: Buffer, destination: Destination): Promise<void> => {
    if (drops('out', bytes)) return
    await sendDatagram(socket, bytes, destination)
  }
  return {
    protocol: 'udp',
    start: async (receive) => {
      const opening = createSocket({ type: family })
      await bind(opening, options)
      socket = opening
      listen(socket, receive, drops, send)
    },
    stop: async () => {
      const closing = socket
      socket = undefined
      if (closing === undefined) return
      closing.close()
      await once(closing, 'close')
    },
    get localPort() {
      return socket?.address().port ?? 0
    },
    prepare: (destination) => findLocalAddress(destination),
    send,
  }
}

const bind = async (socket: Socket, { bindAddress, port }: UdpTransportOptions): Promise<void> => {
  try {
    socket.bind({ address: bindAddress, port })
    await once(socket, 'listening')
  } catch (cause) {
    socket.close()
    throw new Error(`SIP cannot listen on ${bindAddress}, UDP port ${port}`, { cause })
  }
  try {
    socket.setRecvBufferSize(receiveBufferBytes)
  } catch {
    // The system's limit stands then; retransmission makes up for what a burst loses.
  }
}

const listen = (
  socket: Socket,
  receive: ReceiveHandler,
  drops: DropDatagram,
  send: Transport['send'],
): void => {
  // Errors of single datagrams (an ICMP port unreachable) are the sender's to notice by time-out.
  socket.on('error', () => {})
  socket.on('message', (bytes: Buffer, remote: RemoteInfo) => {
    if (drops('in', bytes)) return
    receive(bytes, sourceOf(remote, send))
  })
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

/** The address our datagrams to a destination carry: the bound one, or what the routing table chooses. */
const createLocalAddressFinder = (
  bindAddress: string,
  family: 'udp4' | 'udp6',
): ((destination: Destination) => Promise<string>) => {
  const known = new Map<string, string>()
  const isWildcard = bindAddress === '0.0.0.0' || bindAddress === '::'
  return async ({ address, port }) => {
    if (!isWildcard) return bindAddress
    const remembered = known.get(address)
    if (remembered !== undefined) return remembered
    const local = await askRoutingTable(family, address, port)
    if (known.size >= maxKnownRoutes) known.clear()
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
