import { readUint16, readUint32, writeUint16, writeUint32 } from './packet.ts'

/** The part of RTCP (RFC 3550 section 6) that we read and write. */
export type RtcpPacket =
  | {
      readonly type: 'sender_report'
      readonly ssrc: number
      readonly sender: SenderInfo
      readonly reports: readonly ReportBlock[]
    }
  | {
      readonly type: 'receiver_report'
      readonly ssrc: number
      readonly reports: readonly ReportBlock[]
    }
  | { readonly type: 'source_description'; readonly ssrc: number; readonly cname: string }
  | { readonly type: 'bye'; readonly sources: readonly number[] }

interface SenderInfo {
  /** Wall-clock time as NTP: seconds since 1900 and their fraction, 32 bits each. */
  readonly ntpSeconds: number
  readonly ntpFraction: number
  readonly rtpTimestamp: number
  readonly packetCount: number
  readonly octetCount: number
}

/** One side's statistics about the other's packets (6.4.1). */
export interface ReportBlock {
  readonly ssrc: number
  /** In 1/256. */
  readonly fractionLost: number
  /** 24 bits, signed. */
  readonly packetsLost: number
  /** Extended by its count of cycles. */
  readonly highestSequence: number
  /** In timestamp units. */
  readonly jitter: number
  /** Middle 32 bits of the NTP time of the last sender report, 0 for none. */
  readonly lastSenderReport: number
  /** In 1/65536 s. */
  readonly delaySinceLastSenderReport: number
}

const maxRtcpBytes = 1500

const types = { senderReport: 200, receiverReport: 201, sourceDescription: 202, bye: 203 }
const reportBlockBytes = 24
const cnameItem = 1

/**
 * The packets of a compound datagram. Unknown packet types are skipped; `undefined` for a datagram with
 * inconsistent lengths (RFC 3550 A.2). Never throws.
 */
export const parseRtcp = (datagram: Uint8Array): RtcpPacket[] | undefined => {
  if (datagram.length < 8 || datagram.length > maxRtcpBytes) return undefined
  const packets: RtcpPacket[] = []
  for (let at = 0; at < datagram.length;) {
    if (datagram.length - at < 4 || datagram[at]! >> 6 !== 2) return undefined
    const end = at + 4 * (readUint16(datagram, at + 2) + 1)
    if (end > datagram.length) return undefined
    const packet = parseOne(datagram.subarray(at, end))
    if (packet) packets.push(packet)
    at = end
  }
  return packets
}

/** A compound datagram of these packets, in order. */
export const serializeRtcp = (packets: readonly RtcpPacket[]): Uint8Array => {
  const parts = packets.map(serializeOne)
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const ntpEpochOffsetSeconds = 2_208_988_800

/** A wall-clock instant as NTP (RFC 3550 section 4). */
export const ntpTime = (date: Date): { ntpSeconds: number; ntpFraction: number } => {
  const ms = date.getTime()
  const seconds = Math.floor(ms / 1000)
  return {
    ntpSeconds: (seconds + ntpEpochOffsetSeconds) >>> 0,
    ntpFraction: Math.floor(((ms - seconds * 1000) / 1000) * 2 ** 32) >>> 0,
  }
}

/** The middle 32 bits of an NTP time: 1/65536 s, as `lastSenderReport` carries it. */
export const compactNtp = (time: { ntpSeconds: number; ntpFraction: number }): number =>
  (((time.ntpSeconds & 0xffff) << 16) | (time.ntpFraction >>> 16)) >>> 0

const parseOne = (packet: Uint8Array): RtcpPacket | undefined => {
  const count = packet[0]! & 0x1f
  switch (packet[1]!) {
    case types.senderReport:
      return parseSenderReport(packet, count)
    case types.receiverReport:
      return packet.length < 8
        ? undefined
        : {
            type: 'receiver_report',
            ssrc: readUint32(packet, 4),
            reports: parseReports(packet, 8, count),
          }
    case types.sourceDescription:
      return parseSourceDescription(packet)
    case types.bye:
      return parseBye(packet, count)
    default:
      return undefined
  }
}

const parseSenderReport = (packet: Uint8Array, count: number): RtcpPacket | undefined =>
  packet.length < 28
    ? undefined
    : {
        type: 'sender_report',
        ssrc: readUint32(packet, 4),
        sender: {
          ntpSeconds: readUint32(packet, 8),
          ntpFraction: readUint32(packet, 12),
          rtpTimestamp: readUint32(packet, 16),
          packetCount: readUint32(packet, 20),
          octetCount: readUint32(packet, 24),
        },
        reports: parseReports(packet, 28, count),
      }

const parseReports = (packet: Uint8Array, start: number, count: number): ReportBlock[] => {
  const reports: ReportBlock[] = []
  for (let at = start; reports.length < count && at + reportBlockBytes <= packet.length;) {
    reports.push({
      ssrc: readUint32(packet, at),
      fractionLost: packet[at + 4]!,
      packetsLost: (readUint32(packet, at + 4) << 8) >> 8,
      highestSequence: readUint32(packet, at + 8),
      jitter: readUint32(packet, at + 12),
      lastSenderReport: readUint32(packet, at + 16),
      delaySinceLastSenderReport: readUint32(packet, at + 20),
    })
    at += reportBlockBytes
  }
  return reports
}

// Only the first chunk's CNAME matters to us: one sender per call.
const parseSourceDescription = (packet: Uint8Array): RtcpPacket | undefined => {
  if (packet.length < 12) return undefined
  for (let at = 8; at + 2 <= packet.length && packet[at] !== 0;) {
    const length = packet[at + 1]!
    if (at + 2 + length > packet.length) return undefined
    if (packet[at] === cnameItem) {
      const cname = Buffer.from(packet.subarray(at + 2, at + 2 + length)).toString('utf8')
      return { type: 'source_description', ssrc: readUint32(packet, 4), cname }
    }
    at += 2 + length
  }
  return undefined
}

const parseBye = (packet: Uint8Array, count: number): RtcpPacket => {
  const sources: number[] = []
  for (let at = 4; sources.length < count && at + 4 <= packet.length; at += 4) {
    sources.push(readUint32(packet, at))
  }
  return { type: 'bye', sources }
}

const serializeOne = (packet: RtcpPacket): Uint8Array => {
  switch (packet.type) {
    case 'sender_report':
      return serializeSenderReport(packet.ssrc, packet.sender, packet.reports)
    case 'receiver_report':
      return serializeReceiverReport(packet.ssrc, packet.reports)
    case 'source_description':
      return serializeSourceDescription(packet.ssrc, packet.cname)
    case 'bye':
      return serializeBye(packet.sources)
  }
}

const emptyPacket = (type: number, count: number, bytes: number): Uint8Array => {
  const packet = new Uint8Array(bytes)
  packet[0] = 0x80 | count
  packet[1] = type
  writeUint16(packet, 2, bytes / 4 - 1)
  return packet
}

const serializeSenderReport = (
  ssrc: number,
  sender: SenderInfo,
  reports: readonly ReportBlock[],
): Uint8Array => {
  const packet = emptyPacket(
    types.senderReport,
    reports.length,
    28 + reportBlockBytes * reports.length,
  )
  writeUint32(packet, 4, ssrc)
  writeUint32(packet, 8, sender.ntpSeconds)
  writeUint32(packet, 12, sender.ntpFraction)
  writeUint32(packet, 16, sender.rtpTimestamp)
  writeUint32(packet, 20, sender.packetCount)
  writeUint32(packet, 24, sender.octetCount)
  writeReports(packet, 28, reports)
  return packet
}

const serializeReceiverReport = (ssrc: number, reports: readonly ReportBlock[]): Uint8Array => {
  const packet = emptyPacket(
    types.receiverReport,
    reports.length,
    8 + reportBlockBytes * reports.length,
  )
  writeUint32(packet, 4, ssrc)
  writeReports(packet, 8, reports)
  return packet
}

const writeReports = (packet: Uint8Array, start: number, reports: readonly ReportBlock[]): void => {
  reports.forEach((report, i) => {
    const at = start + reportBlockBytes * i
    writeUint32(packet, at, report.ssrc)
    writeUint32(packet, at + 4, report.packetsLost & 0xffffff)
    packet[at + 4] = report.fractionLost
    writeUint32(packet, at + 8, report.highestSequence)
    writeUint32(packet, at + 12, report.jitter)
    writeUint32(packet, at + 16, report.lastSenderReport)
    writeUint32(packet, at + 20, report.delaySinceLastSenderReport)
  })
}

const serializeSourceDescription = (ssrc: number, cname: string): Uint8Array => {
  const text = new TextEncoder().encode(cname).subarray(0, 255)
  // The item list ends with at least one zero and fills its last word (6.5).
  const bytes = 8 + 4 * Math.ceil((2 + text.length + 1) / 4)
  const packet = emptyPacket(types.sourceDescription, 1, bytes)
  writeUint32(packet, 4, ssrc)
  packet[8] = cnameItem
  packet[9] = text.length
  packet.set(text, 10)
  return packet
}

const serializeBye = (sources: readonly number[]): Uint8Array => {
  const packet = emptyPacket(types.bye, sources.length, 4 + 4 * sources.length)
  sources.forEach((source, i) => writeUint32(packet, 4 + 4 * i, source))
  return packet
}
