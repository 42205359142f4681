/** An RTP packet (RFC 3550 section 5.1) without its CSRC list, header extension and padding. */
export interface RtpPacket {
  readonly marker: boolean
  readonly payloadType: number
  readonly sequenceNumber: number
  /** In samples. */
  readonly timestamp: number
  readonly ssrc: number
  /** A view into the received datagram. */
  readonly payload: Uint8Array
}

const rtpHeaderBytes = 12

/** Larger datagrams are not G.711 (200 ms are 1600 bytes) and are refused unread. */
export const maxRtpBytes = 2048

/** `undefined` for anything that is not a well-formed RTP packet (RFC 3550 A.1). Never throws. */
export const parseRtpPacket = (datagram: Uint8Array): RtpPacket | undefined => {
  if (datagram.length < rtpHeaderBytes || datagram.length > maxRtpBytes) return undefined
  const first = datagram[0]!
  if (first >> 6 !== 2) return undefined
  const start = payloadStart(datagram)
  const end = datagram.length - paddingBytes(datagram)
  if (start === undefined || end < start) return undefined
  return {
    marker: (datagram[1]! & 0x80) !== 0,
    payloadType: datagram[1]! & 0x7f,
    sequenceNumber: readUint16(datagram, 2),
    timestamp: readUint32(datagram, 4),
    ssrc: readUint32(datagram, 8),
    payload: datagram.subarray(start, end),
  }
}

/**
 * The packet as bytes with no other writer; from Node's pool, because separate buffers would burden the garbage
 * collector.
 */
export const serializeRtpPacket = (packet: RtpPacket): Uint8Array => {
  const bytes = Buffer.allocUnsafe(rtpHeaderBytes + packet.payload.length)
  bytes[0] = 0x80
  bytes[1] = (packet.marker ? 0x80 : 0) | (packet.payloadType & 0x7f)
  writeUint16(bytes, 2, packet.sequenceNumber)
  writeUint32(bytes, 4, packet.timestamp)
  writeUint32(bytes, 8, packet.ssrc)
  bytes.set(packet.payload, rtpHeaderBytes)
  return bytes
}

/**
 * RTP and RTCP share a port if the peer multiplexes them; the second byte distinguishes them (RFC 5761 section 4).
 */
export const looksLikeRtcp = (datagram: Uint8Array): boolean =>
  datagram.length >= 2 && datagram[1]! >= 192 && datagram[1]! <= 223

/** Distance from `from` to `to` modulo 16 bits, for sequence numbers, -32768 to 32767. */
export const sequenceDistance = (from: number, to: number): number => ((to - from) << 16) >> 16

/** Signed distance from `from` to `to` modulo 32 bits, for timestamps. */
export const timestampDistance = (from: number, to: number): number => (to - from) | 0

export const readUint16 = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! << 8) | bytes[at + 1]!

export const readUint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0

export const writeUint16 = (bytes: Uint8Array, at: number, value: number): void => {
  bytes[at] = value >>> 8
  bytes[at + 1] = value
}

export const writeUint32 = (bytes: Uint8Array, at: number, value: number): void => {
  writeUint16(bytes, at, value >>> 16)
  writeUint16(bytes, at + 2, value)
}

const payloadStart = (datagram: Uint8Array): number | undefined => {
  const afterSources = rtpHeaderBytes + 4 * (datagram[0]! & 0x0f)
  if ((datagram[0]! & 0x10) === 0) return afterSources
  if (datagram.length < afterSources + 4) return undefined
  return afterSources + 4 + 4 * readUint16(datagram, afterSources + 2)
}

// A padding count of zero is malformed (it counts itself); infinity makes the bounds check above fail.
const paddingBytes = (datagram: Uint8Array): number =>
  (datagram[0]! & 0x20) === 0 ? 0 : datagram[datagram.length - 1]! || Infinity
