import { randomBytes } from 'node:crypto'
import { canonicalAddress } from '../runtime/ip-address.ts'
import { systemClock, type Clock } from '../runtime/clock.ts'
import { createIncoming } from './incoming.ts'
import { createLatch, type Source } from './latch.ts'
import { createOutgoing } from './outgoing.ts'
import { looksLikeRtcp, parseRtpPacket } from './packet.ts'
import { createRtcpReporter } from './rtcp-reporter.ts'
import type {
  MediaDirection,
  RtpSession,
  RtpSessionOptions,
  RtpStats,
} from './rtp-session-types.ts'
import { openRtpSocket } from './rtp-socket.ts'

const tickMs = 20
const samplesPerMs = 8

/**
 * Binds a free pair of ports of the range. Throws `RtpPortsExhaustedError` when there is none, and the system's error
 * when the address is not ours.
 */
export const openRtpSession = async (
  options: RtpSessionOptions,
  clock: Clock = systemClock,
): Promise<RtpSession> => {
  const latch = createLatch()
  const outgoing = createOutgoing()
  const incoming = createIncoming()
  const cname = options.cname ?? randomBytes(12).toString('base64')
  const reporter = createRtcpReporter(outgoing, incoming, cname, clock)
  let isConnected = false
  let declared: Source | undefined
  let direction: MediaDirection = 'sendrecv'
  let silentTicks = 0
  let foreign = 0
  let malformed = 0
  let isClosed = false

  const onRtp = (datagram: Uint8Array, address: string, port: number): void => {
    if (isClosed) return
    if (looksLikeRtcp(datagram)) {
      // On this port only the stream's own source multiplexes (RFC 5761).
      if (port === destination()?.port) onRtcp(datagram, address)
      return
    }
    const packet = parseRtpPacket(datagram)
    if (!packet) malformed++
    else if (!latch.accept({ address, port }, packet, incoming.isAgreed(packet.payloadType)))
      foreign++
    else {
      silentTicks = 0
      incoming.accept(packet, clock.monotonicMs() * samplesPerMs)
    }
  }

  const onRtcp = (datagram: Uint8Array, address: string): void => {
    if (!isClosed && address === destination()?.address) reporter.accept(datagram)
  }

  const destination = (): Source | undefined => latch.source ?? declared

  const socket = await openRtpSocket({
    bindAddress: options.bindAddress,
    portRange: options.portRange,
    rtcp: options.rtcp ?? 'on',
    onRtp,
    onRtcp,
  })

  const sendReport = (report: Uint8Array | undefined): void => {
    const to = destination()
    if (report && to && to.port < 65_535) {
      socket.sendRtcp(report, { address: to.address, port: to.port + 1 })
    }
  }

  const stats = (): RtpStats => {
    const figures = incoming.figures()
    return {
      packetsSent: outgoing.packets,
      packetsReceived: figures.received,
      packetsLost: figures.lost,
      packetsLate: figures.late,
      packetsDuplicate: figures.duplicates,
      packetsReordered: figures.reordered,
      packetsForeign: foreign,
      packetsMalformed: malformed + figures.malformed,
      framesConcealed: figures.concealed,
      resyncs: figures.resyncs,
      sendErrors: socket.sendErrors,
      jitterMs: figures.jitterMs,
      playoutDelayMs: figures.playoutDelayMs,
      silentForMs: silentTicks * tickMs,
      ...(latch.source && { source: latch.source }),
      ...(reporter.feedback && { reported: reporter.feedback }),
    }
  }

  return {
    address: socket.address,
    port: socket.port,
    connect(next) {
      isConnected = true
      silentTicks = 0
      if (!isUnspecified(next.remote.address)) {
        declared = { ...next.remote, address: canonicalAddress(next.remote.address) }
        latch.declare(next.remote, next.otherSources)
      }
      outgoing.connect(next)
      incoming.connect(next)
    },
    send(frame) {
      const packet = outgoing.next(frame, !isClosed && sends(direction))
      const to = destination()
      if (packet && to) socket.sendRtp(packet, to)
    },
    receive() {
      silentTicks++
      if (isConnected && !isClosed) sendReport(reporter.tick())
      return incoming.take()
    },
    sendDtmf: (digits) => outgoing.sendDtmf(digits),
    onDigit: (listener) => incoming.onDigit(listener),
    setDirection(next) {
      direction = next
      incoming.listen(receives(next))
    },
    stats,
    async close() {
      if (isConnected && !isClosed) sendReport(reporter.farewell())
      isClosed = true
      await socket.close()
    },
  }
}

const sends = (direction: MediaDirection): boolean =>
  direction === 'sendrecv' || direction === 'sendonly'

const receives = (direction: MediaDirection): boolean =>
  direction === 'sendrecv' || direction === 'recvonly'

/** RFC 2543's way to hold a call: an address to which nothing can be sent. The one before is kept for the resume. */
const isUnspecified = (address: string): boolean => address === '0.0.0.0' || address === '::'
