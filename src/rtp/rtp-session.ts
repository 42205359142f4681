import { randomBytes } from 'node:crypto'
import { canonicalAddress } from '../runtime/ip-address.ts'
import { systemTime, type Clock } from '../runtime/time.ts'
import { mayReceive, maySend, type MediaDirection } from '../sdp/media-direction.ts'
import { Incoming } from './incoming.ts'
import { createLatch, type MediaSource } from './latch.ts'
import { createOutgoing } from './outgoing.ts'
import { looksLikeRtcp, parseRtpPacket } from './packet.ts'
import { createRtcpReporter, type RtcpReporter } from './rtcp-reporter.ts'
import { createMediaProtection } from './srtp/protection.ts'
import type { RtpMedia, RtpSession, RtpSessionOptions, RtpStats } from './rtp-session-types.ts'
import { openRtpSocket, type RtpSocket } from './rtp-socket.ts'

const tickMs = 20
const samplesPerMs = 8

/**
 * Binds a free pair of ports of the range. Throws `RtpPortsExhaustedError` when there is none, and the system's
 * error for an address of another machine.
 */
export const openRtpSession = async (
  options: RtpSessionOptions,
  clock: Clock = systemTime,
): Promise<RtpSession> => {
  const session = new SocketSession(options.cname ?? randomBytes(12).toString('base64'), clock)
  session.attach(
    await openRtpSocket({
      bindAddress: options.bindAddress,
      portRange: options.portRange,
      rtcp: options.rtcp ?? 'on',
      onRtp: session.onRtp,
      onRtcp: session.onRtcp,
    }),
  )
  return session
}

class SocketSession implements RtpSession {
  readonly #clock: Clock
  readonly #latch = createLatch()
  readonly #outgoing = createOutgoing()
  readonly #protection = createMediaProtection()
  readonly #incoming = new Incoming()
  readonly #reporter: RtcpReporter
  #socket: RtpSocket | undefined
  #isConnected = false
  #isClosed = false
  #declared: MediaSource | undefined
  #direction: MediaDirection = 'sendrecv'
  /** Since the last packet of the source, and since its last packet or report. */
  #silentTicks = 0
  #lifelessTicks = 0
  #foreign = 0
  #malformed = 0
  #unauthentic = 0

  constructor(cname: string, clock: Clock) {
    this.#clock = clock
    this.#reporter = createRtcpReporter(this.#outgoing, this.#incoming, cname, clock)
  }

  /** Before anything else but datagrams. */
  attach(socket: RtpSocket): void {
    this.#socket = socket
  }

  get address(): string {
    return this.#bound.address
  }

  get port(): number {
    return this.#bound.port
  }

  connect(media: RtpMedia): void {
    this.#isConnected = true
    this.#silentTicks = 0
    this.#lifelessTicks = 0
    const { remote, otherSources } = media
    if (!isUnspecified(remote.address)) {
      const before = this.#declared
      this.#declared = { address: canonicalAddress(remote.address), port: remote.port }
      this.#latch.declare(remote, otherSources)
      const { address, port } = this.#declared
      if (before && (before.address !== address || before.port !== port)) this.#incoming.moved()
    }
    this.#protection.agree(media.srtp)
    this.#outgoing.connect(media)
    this.#incoming.connect(media)
  }

  send(frame: Uint8Array): void {
    const packet = this.#outgoing.next(frame, !this.#isClosed && maySend(this.#direction))
    const to = this.#destination
    if (packet && to) this.#bound.sendRtp(this.#protection.protectRtp(packet), to)
  }

  receive(): Uint8Array {
    this.#silentTicks++
    this.#lifelessTicks++
    if (this.#isConnected && !this.#isClosed) this.#sendReport(this.#reporter.tick())
    return this.#incoming.take()
  }

  sendDtmf(digits: string): void {
    this.#outgoing.sendDtmf(digits)
  }

  onDigit(listener: (digit: string) => void): void {
    this.#incoming.onDigit(listener)
  }

  setDirection(direction: MediaDirection): void {
    if (!mayReceive(this.#direction)) this.#silentTicks = 0
    const isResumed = maySend(direction) && !maySend(this.#direction)
    this.#direction = direction
    // What waits to be played is the end of the music on hold.
    if (isResumed) this.#incoming.listen(false)
    this.#incoming.listen(mayReceive(direction))
  }

  stats(): RtpStats {
    const figures = this.#incoming.figures()
    const { source } = this.#latch
    const { feedback } = this.#reporter
    return {
      packetsSent: this.#outgoing.packets,
      packetsReceived: figures.received,
      packetsLost: figures.lost,
      packetsLate: figures.late,
      packetsDuplicate: figures.duplicates,
      packetsReordered: figures.reordered,
      packetsForeign: this.#foreign,
      packetsMalformed: this.#malformed + figures.malformed,
      packetsUnauthentic: this.#unauthentic,
      framesConcealed: figures.concealed,
      resyncs: figures.resyncs,
      sendErrors: this.#bound.sendErrors,
      jitterMs: figures.jitterMs,
      playoutDelayMs: figures.playoutDelayMs,
      silentForMs: this.#lifelessTicks * tickMs,
      withoutAudioMs: this.#silentTicks * tickMs,
      ...(source && { source }),
      ...(feedback && { reported: feedback }),
    }
  }

  async close(): Promise<void> {
    if (this.#isConnected && !this.#isClosed) this.#sendReport(this.#reporter.farewell())
    this.#isClosed = true
    await this.#bound.close()
  }

  readonly onRtp = (datagram: Uint8Array, address: string, port: number): void => {
    if (this.#isClosed) return
    if (looksLikeRtcp(datagram)) {
      // On this port only the stream's own source multiplexes (RFC 5761).
      if (port === this.#destination?.port) this.onRtcp(datagram, address)
      return
    }
    const opened = this.#protection.openRtp(datagram)
    if (!opened) {
      this.#unauthentic++
      return
    }
    const packet = parseRtpPacket(opened)
    if (!packet) {
      this.#malformed++
      return
    }
    const isAgreed = this.#incoming.isAgreed(packet.payloadType)
    // A side that may send nothing is not missed.
    const silentMs = mayReceive(this.#direction) ? this.#silentTicks * tickMs : 0
    if (!this.#latch.accept({ address, port }, packet, isAgreed, silentMs)) {
      this.#foreign++
      return
    }
    this.#silentTicks = 0
    this.#lifelessTicks = 0
    this.#incoming.accept(packet, this.#clock.monotonicMs() * samplesPerMs)
  }

  readonly onRtcp = (datagram: Uint8Array, address: string): void => {
    if (this.#isClosed || address !== this.#destination?.address) return
    const opened = this.#protection.openRtcp(datagram)
    if (opened && this.#reporter.accept(opened)) this.#lifelessTicks = 0
  }

  get #bound(): RtpSocket {
    if (!this.#socket) throw new Error('The RTP session has no socket yet.')
    return this.#socket
  }

  get #destination(): MediaSource | undefined {
    return this.#latch.source ?? this.#declared
  }

  #sendReport(report: Uint8Array | undefined): void {
    const to = this.#destination
    if (report && to && to.port < 65_535) {
      this.#bound.sendRtcp(this.#protection.protectRtcp(report), {
        address: to.address,
        port: to.port + 1,
      })
    }
  }
}

/**
 * RFC 2543's way to hold a call: an address to which nothing can be sent. The previous one is kept for the resume.
 */
const isUnspecified = (address: string): boolean => address === '0.0.0.0' || address === '::'
