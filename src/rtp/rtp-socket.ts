import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'

/** The UDP side of one call: RTP on an even port, RTCP on the odd one above it. */
export interface RtpSocket {
  readonly address: string
  readonly port: number
  /** Never waits and never throws: unsent packets are counted. */
  sendRtp(bytes: Uint8Array, to: { address: string; port: number }): void
  sendRtcp(bytes: Uint8Array, to: { address: string; port: number }): void
  readonly sendErrors: number
  close(): Promise<void>
}

interface RtpSocketOptions {
  readonly bindAddress: string
  readonly portRange: { readonly min: number; readonly max: number }
  readonly rtcp: 'on' | 'off'
  readonly onRtp: DatagramListener
  readonly onRtcp: DatagramListener
}

type DatagramListener = (bytes: Uint8Array, address: string, port: number) => void

/** No pair of ports of the range could be bound. */
export class RtpPortsExhaustedError extends Error {
  override name = 'RtpPortsExhaustedError'
}

/** About a second of G.711 in the kernel's accounting; a call that falls further behind is lost anyway. */
const receiveBufferBytes = 65_536

/** Datagrams waiting for the kernel; beyond that the network is stuck and old audio is worthless. */
const maxQueuedSends = 16

/** Starts at a random even port, so that ports are hard to guess and calls seldom collide, and tries each once. */
export const openRtpSocket = async (options: RtpSocketOptions): Promise<RtpSocket> => {
  const first = options.portRange.min + (options.portRange.min % 2)
  const pairs = Math.floor((options.portRange.max - first + 1) / 2)
  const start = Math.floor(Math.random() * Math.max(1, pairs))
  for (let i = 0; i < pairs; i++) {
    const bound = await bindPair(options, first + 2 * ((start + i) % pairs))
    if (bound) return wrap(bound, options)
  }
  const { min, max } = options.portRange
  throw new RtpPortsExhaustedError(`No free pair of ports in ${min}-${max}.`)
}

interface BoundPair {
  readonly rtp: Socket
  readonly rtcp: Socket | undefined
}

const bindPair = async (
  { bindAddress, rtcp }: RtpSocketOptions,
  port: number,
): Promise<BoundPair | undefined> => {
  const rtpSocket = await bind(bindAddress, port)
  if (!rtpSocket || rtcp === 'off') return rtpSocket && { rtp: rtpSocket, rtcp: undefined }
  try {
    const rtcpSocket = await bind(bindAddress, port + 1)
    if (rtcpSocket) return { rtp: rtpSocket, rtcp: rtcpSocket }
  } catch (error) {
    await close(rtpSocket)
    throw error
  }
  await close(rtpSocket)
  return undefined
}

/** `undefined` if the port is in use; any other fault (no such address, no permission) is thrown. */
const bind = async (address: string, port: number): Promise<Socket | undefined> => {
  const family = isIPv6(address) ? 6 : 4
  const socket = createSocket({
    type: `udp${family}`,
    recvBufferSize: receiveBufferBytes,
    // Addresses are always literal here; the default would ask the resolver for each packet sent.
    lookup: (host, _options, done) => done(null, host, family),
  })
  try {
    // Registered before binding: with a synchronous lookup, binding is synchronous.
    const listening = once(socket, 'listening')
    socket.bind({ address, port, exclusive: true })
    await listening
    return socket
  } catch (error) {
    await close(socket)
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined
    throw error
  }
}

const wrap = ({ rtp, rtcp }: BoundPair, { onRtp, onRtcp }: RtpSocketOptions): RtpSocket => {
  const sockets = rtcp ? [rtp, rtcp] : [rtp]
  let sendErrors = 0
  const countError = (error: Error | null): void => {
    if (error) sendErrors++
  }
  const send = (socket: Socket | undefined, bytes: Uint8Array, to: Destination): void => {
    if (!socket) return
    if (socket.getSendQueueCount() >= maxQueuedSends) sendErrors++
    else socket.send(bytes, to.port, to.address, countError)
  }

  rtp.on('message', (bytes, from) => onRtp(bytes, from.address, from.port))
  rtcp?.on('message', (bytes, from) => onRtcp(bytes, from.address, from.port))
  // ICMP errors arrive here; the silence watchdog decides what they mean.
  for (const socket of sockets) socket.on('error', countError)

  const { address, port } = rtp.address()
  let closed: Promise<void> | undefined
  return {
    address,
    port,
    sendRtp: (bytes, to) => send(rtp, bytes, to),
    sendRtcp: (bytes, to) => send(rtcp, bytes, to),
    get sendErrors() {
      return sendErrors
    },
    close: () => {
      closed ??= Promise.all(sockets.map(close)).then(() => {})
      return closed
    },
  }
}

interface Destination {
  readonly address: string
  readonly port: number
}

const close = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    try {
      socket.close(resolve)
    } catch {
      // Never bound, or closed already: nothing to release.
      resolve()
    }
  })
