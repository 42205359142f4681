import type { Clock } from '../runtime/time.ts'
import type { Incoming } from './incoming.ts'
import type { Outgoing } from './outgoing.ts'
import { compactNtp, ntpTime, parseRtcp, serializeRtcp, type ReportBlock } from './rtcp.ts'
import type { RtcpFeedback } from './rtp-session-types.ts'

/** When to report (RFC 3550 section 6.2), and the other side's reports. */
export interface RtcpReporter {
  /** Call it once per 20 ms: returns the compound packet to send now, if one is due. */
  tick(): Uint8Array | undefined
  /** Returns whether the datagram was RTCP of the other side. */
  accept(datagram: Uint8Array): boolean
  /** The last compound packet, with BYE. */
  farewell(): Uint8Array
  readonly feedback: RtcpFeedback | undefined
}

const ticksPerSecond = 50
const intervalSeconds = 5

export const createRtcpReporter = (
  outgoing: Outgoing,
  incoming: Incoming,
  cname: string,
  clock: Clock,
): RtcpReporter => {
  let feedback: RtcpFeedback | undefined
  let packetsAtLastReport = 0
  // Half the interval for the first report, and never in step with other calls (6.3.1).
  let ticksLeft = spread(intervalSeconds / 2)

  const report = (): Parameters<typeof serializeRtcp>[0] => {
    const block = incoming.reception?.reportBlock(clock.monotonicMs())
    const reports = block ? [block] : []
    const isSender = outgoing.packets > packetsAtLastReport
    packetsAtLastReport = outgoing.packets
    const description = { type: 'source_description', ssrc: outgoing.ssrc, cname } as const
    if (!isSender) return [{ type: 'receiver_report', ssrc: outgoing.ssrc, reports }, description]
    return [
      { type: 'sender_report', ssrc: outgoing.ssrc, sender: senderInfo(outgoing, clock), reports },
      description,
    ]
  }

  const takeFeedback = (block: ReportBlock): void => {
    if (block.ssrc !== outgoing.ssrc) return
    const roundTripMs = roundTrip(block, clock)
    feedback = {
      fractionLost: block.fractionLost / 256,
      packetsLost: block.packetsLost,
      jitterMs: block.jitter / 8,
      ...(roundTripMs === undefined ? {} : { roundTripMs }),
    }
  }

  return {
    tick() {
      if (--ticksLeft > 0) return undefined
      ticksLeft = spread(intervalSeconds)
      return serializeRtcp(report())
    },
    accept(datagram) {
      const packets = parseRtcp(datagram) ?? []
      for (const packet of packets) {
        if (packet.type === 'sender_report' && packet.ssrc === incoming.reception?.ssrc) {
          incoming.reception.senderReport(compactNtp(packet.sender), clock.monotonicMs())
        }
        const isReport = packet.type === 'sender_report' || packet.type === 'receiver_report'
        // Before anything was received, the other side may only report (RFC 3550 6.4.2).
        const heardSsrc = incoming.reception?.ssrc ?? (isReport ? packet.ssrc : undefined)
        if (isReport && packet.ssrc === heardSsrc) packet.reports.forEach(takeFeedback)
      }
      return packets.some(({ type }) => type === 'sender_report' || type === 'receiver_report')
    },
    farewell: () => serializeRtcp([...report(), { type: 'bye', sources: [outgoing.ssrc] }]),
    get feedback() {
      return feedback
    },
  }
}

const spread = (seconds: number): number =>
  Math.round(seconds * ticksPerSecond * (0.5 + Math.random()))

const senderInfo = (outgoing: Outgoing, clock: Clock) => ({
  ...ntpTime(clock.now()),
  rtpTimestamp: outgoing.timestamp,
  packetCount: outgoing.packets >>> 0,
  octetCount: outgoing.octets >>> 0,
})

/** Of a compact NTP time (RFC 3550 section 4). */
const unitsPerSecond = 65_536
/** Our clock counts milliseconds, so an immediate reply may seem to arrive one too early. */
const clockResolution = Math.ceil(unitsPerSecond / 1000)

/**
 * Now minus the time of our report minus the time the other side held it (6.4.1); `undefined` before it had one.
 */
const roundTrip = (block: ReportBlock, clock: Clock): number | undefined => {
  if (block.lastSenderReport === 0) return undefined
  const now = compactNtp(ntpTime(clock.now()))
  const elapsed = (now - block.lastSenderReport - block.delaySinceLastSenderReport) | 0
  // A clock step or a lying peer gives nonsense, which is dropped.
  if (elapsed < -clockResolution || elapsed > 60 * unitsPerSecond) return undefined
  return (Math.max(0, elapsed) / unitsPerSecond) * 1000
}
