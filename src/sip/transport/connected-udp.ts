import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isLoopback } from '../../runtime/ip-address.ts'
import type { Destination } from '../message/destination.ts'

/**
 * A socket of our port that is connected to one destination: only such a socket receives an ICMP "port
 * unreachable".
 */
export interface ConnectedUdp {
  /** Rejects if this datagram was certainly not delivered: it did not leave, or its refusal came back. */
  send(bytes: Buffer): Promise<void>
  /**
   * A refusal came at most half a second ago, and nothing since: a new datagram there would likely be refused too.
   */
  readonly isRefusing: boolean
  close(): void
}

interface ConnectedUdpOptions {
  readonly family: 'udp4' | 'udp6'
  readonly bindAddress: string
  readonly port: number
  readonly destination: Destination
  readonly receive: (bytes: Buffer, remote: RemoteInfo) => void
}

/** A refusal from another machine arrives within this time, or cannot be attributed to a datagram. */
const refusalMs = 300

/** Until the first repetition of a request (T1, RFC 3261 17.1.1.1), whose own refusal repeats it. */
const refusingMs = 500

interface Sent {
  readonly settle: (error?: Error) => void
}

/** Signalling comes in bursts; the kernel's default of about 200 kB holds some 200 INVITEs. */
export const receiveBufferBytes = 4 * 1024 * 1024

/**
 * A refusal names no datagram. It belongs to the only one in flight; of several none counts as refused, because a
 * delivered one may ring a phone. On loopback the kernel refuses while it sends, and the next use of the socket
 * reports it: a refusal belongs to the last one sent.
 */
export const connectUdp = async (options: ConnectedUdpOptions): Promise<ConnectedUdp> => {
  const { family, bindAddress, port, destination, receive } = options
  const socket = createSocket({ type: family, reuseAddr: true })
  const underWay = new Set<Sent>()
  const isNear = isLoopback(destination.address)
  let refusedAtMs = -Infinity

  const refusedOneOf = (sent: readonly Sent[], error: Error): void => {
    refusedAtMs = performance.now()
    const last = sent.at(-1)
    if (isNear || sent.length === 1) last?.settle(error)
    for (const each of sent) each.settle()
  }

  try {
    socket.bind({ address: bindAddress, port })
    await once(socket, 'listening')
    socket.connect(destination.port, destination.address)
    await once(socket, 'connect')
  } catch (error) {
    socket.close()
    throw error
  }
  try {
    socket.setRecvBufferSize(receiveBufferBytes)
  } catch {
    // The system's limit applies then; retransmission compensates for a burst's losses.
  }
  socket.on('message', (bytes, remote) => {
    refusedAtMs = -Infinity
    receive(bytes, remote)
  })
  socket.on('error', (error) => {
    refusedOneOf([...underWay], error)
  })
  return {
    send: (bytes) =>
      new Promise((resolve, reject) => {
        const earlier = [...underWay]
        const settle = (error?: Error): void => {
          underWay.delete(sent)
          clearTimeout(timer)
          if (error) reject(error)
          else resolve()
        }
        const sent: Sent = { settle }
        underWay.add(sent)
        const timer = isNear ? undefined : setTimeout(settle, refusalMs)
        timer?.unref()
        sendOn(socket, bytes, (error) => {
          if (error === null) {
            // The event loop polls sockets once in between: a refusal on this machine is known by then.
            if (isNear) setImmediate(() => setImmediate(settle))
            return
          }
          // The error belongs to an earlier datagram; this one did not leave.
          settle(error)
          refusedOneOf(earlier, error)
        })
      }),
    get isRefusing() {
      return performance.now() - refusedAtMs < refusingMs
    },
    close: () => {
      for (const sent of underWay) sent.settle()
      socket.close()
    },
  }
}

const sendOn = (socket: Socket, bytes: Buffer, done: (error: Error | null) => void): void => {
  try {
    socket.send(bytes, done)
  } catch (error) {
    // A socket that was closed meanwhile throws.
    done(error instanceof Error ? error : new Error(String(error)))
  }
}
