import { BoundedMap } from '../../runtime/bounded-map.ts'
import { readUint16, readUint32, writeUint32 } from '../packet.ts'
import { createPacketCipher, type SrtpKey } from './packet-cipher.ts'
import { createReplayWindow, type ReplayWindow } from './replay-window.ts'

/** Protects what we send (RFC 3711 3.3). One sender has one SSRC. */
export interface SrtpSender {
  protectRtp(packet: Uint8Array): Uint8Array
  protectRtcp(packet: Uint8Array): Uint8Array
}

/** Checks and decrypts what comes. `undefined`: not authentic, replayed, or no packet at all. Never throws. */
export interface SrtpReceiver {
  openRtp(datagram: Uint8Array): Uint8Array | undefined
  openRtcp(datagram: Uint8Array): Uint8Array | undefined
}

const rtcpHeadBytes = 8
const indexBytes = 4
const encryptedBit = 0x8000_0000
const rtcpIndexMask = 0x7fff_ffff

/** SSRCs of one peer that are followed at a time; the oldest is forgotten. */
const maxStreams = 4

export const createSrtpSender = (key: SrtpKey): SrtpSender => {
  const rtp = createPacketCipher(key, 'rtp')
  const rtcp = createPacketCipher(key, 'rtcp')
  const tail = Buffer.alloc(indexBytes)
  let rollOver = 0
  let lastSequence: number | undefined
  let rtcpIndex = 0

  return {
    protectRtp(packet) {
      const sequence = readUint16(packet, 2)
      if (lastSequence !== undefined && sequence < lastSequence) rollOver = (rollOver + 1) >>> 0
      lastSequence = sequence
      const headBytes = rtpHeadBytes(packet)
      if (headBytes === undefined) throw new Error('Only an RTP packet can be protected.')
      const head = packet.subarray(0, headBytes)
      tail.writeUInt32BE(rollOver)
      const index = rollOver * 65_536 + sequence
      const parts = { head, ssrc: readUint32(packet, 8), index, tail }
      const sealed = rtp.seal(parts, packet.subarray(headBytes))
      return Buffer.concat([head, sealed.body, sealed.tag])
    },
    protectRtcp(packet) {
      const head = packet.subarray(0, rtcpHeadBytes)
      rtcpIndex = (rtcpIndex + 1) & rtcpIndexMask
      const trailer = Buffer.alloc(indexBytes)
      writeUint32(trailer, 0, (encryptedBit | rtcpIndex) >>> 0)
      const parts = { head, ssrc: readUint32(packet, 4), index: rtcpIndex, tail: trailer }
      const { body, tag } = rtcp.seal(parts, packet.subarray(rtcpHeadBytes))
      // The trailer is before the tag of a MAC, and after that of GCM (RFC 3711 3.4, RFC 7714 9.2).
      return Buffer.concat(isGcm(key) ? [head, body, tag, trailer] : [head, body, trailer, tag])
    },
  }
}

export const createSrtpReceiver = (key: SrtpKey): SrtpReceiver => {
  const rtp = createPacketCipher(key, 'rtp')
  const rtcp = createPacketCipher(key, 'rtcp')
  const streams = new BoundedMap<number, ReplayWindow>({ maxSize: maxStreams })
  const reports = new BoundedMap<number, ReplayWindow>({ maxSize: maxStreams })
  const tail = Buffer.alloc(indexBytes)

  return {
    openRtp(datagram) {
      const headBytes = rtpHeadBytes(datagram)
      if (headBytes === undefined || datagram.length < headBytes + rtp.tagBytes) return undefined
      const ssrc = readUint32(datagram, 8)
      const window = streams.get(ssrc) ?? createReplayWindow()
      const index = guessIndex(window.highest, readUint16(datagram, 2))
      if (index < 0 || !window.isNew(index)) return undefined
      const head = datagram.subarray(0, headBytes)
      const tagAt = datagram.length - rtp.tagBytes
      tail.writeUInt32BE(Math.floor(index / 65_536))
      const parts = { head, ssrc, index, tail }
      const body = rtp.open(parts, datagram.subarray(headBytes, tagAt), datagram.subarray(tagAt))
      if (body === undefined) return undefined
      window.accept(index)
      streams.set(ssrc, window)
      return Buffer.concat([head, body])
    },
    openRtcp(datagram) {
      const { tagBytes } = rtcp
      const endBytes = datagram.length - tagBytes - indexBytes
      if (endBytes < rtcpHeadBytes) return undefined
      const trailerAt = isGcm(key) ? datagram.length - indexBytes : endBytes
      const tagAt = isGcm(key) ? endBytes : datagram.length - tagBytes
      const trailer = datagram.subarray(trailerAt, trailerAt + indexBytes)
      const word = readUint32(trailer, 0)
      const index = word & rtcpIndexMask
      const ssrc = readUint32(datagram, 4)
      const window = reports.get(ssrc) ?? createReplayWindow()
      if (!window.isNew(index)) return undefined
      const head = datagram.subarray(0, rtcpHeadBytes)
      const sealed = datagram.subarray(rtcpHeadBytes, endBytes)
      const tag = datagram.subarray(tagAt, tagAt + tagBytes)
      const parts = { head, ssrc, index, tail: trailer }
      const body =
        (word & encryptedBit) === 0
          ? rtcp.isAuthentic(parts, sealed, tag)
            ? sealed
            : undefined
          : rtcp.open(parts, sealed, tag)
      if (body === undefined) return undefined
      window.accept(index)
      reports.set(ssrc, window)
      return Buffer.concat([head, body])
    },
  }
}

const isGcm = ({ suite }: SrtpKey): boolean => suite === 'AEAD_AES_128_GCM'

/** Header, CSRC list and extension are authenticated, but not encrypted (RFC 3711 3.1). */
const rtpHeadBytes = (packet: Uint8Array): number | undefined => {
  if (packet.length < 12 || packet[0]! >> 6 !== 2) return undefined
  const afterSources = 12 + 4 * (packet[0]! & 0x0f)
  if ((packet[0]! & 0x10) === 0) return afterSources <= packet.length ? afterSources : undefined
  if (packet.length < afterSources + 4) return undefined
  const end = afterSources + 4 + 4 * readUint16(packet, afterSources + 2)
  return end <= packet.length ? end : undefined
}

/** The index nearest to the highest so far (RFC 3711 3.3.1); the first packet of a stream has no roll-over. */
const guessIndex = (highest: number, sequence: number): number => {
  if (highest < 0) return sequence
  const rollOver = Math.floor(highest / 65_536)
  const last = highest % 65_536
  if (last < 32_768)
    return sequence - last > 32_768
      ? (rollOver - 1) * 65_536 + sequence
      : rollOver * 65_536 + sequence
  return last - 32_768 > sequence
    ? (rollOver + 1) * 65_536 + sequence
    : rollOver * 65_536 + sequence
}
