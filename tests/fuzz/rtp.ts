// `npm run fuzz rtp -- --inputs 1000000 --seed 1`: mutated RTP and RTCP packets against their readers.
import { runByteFuzz, type ByteFuzz } from '../support/byte-fuzz.ts'
import { looksLikeRtcp, parseRtpPacket, serializeRtpPacket } from '../../src/rtp/packet.ts'
import { parseRtcp, serializeRtcp } from '../../src/rtp/rtcp.ts'
import { parseTelephoneEvent } from '../../src/rtp/telephone-event.ts'

const rtp = Buffer.from([
  0x80,
  0x80,
  0,
  1,
  0,
  0,
  0,
  160,
  1,
  2,
  3,
  4,
  ...Array<number>(160).fill(0xff),
])
const extended = Buffer.from([
  0xb2, 101, 0, 2, 0, 0, 1, 64, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0xbe, 0xde, 0, 1, 0x10, 0, 0, 0,
  5, 0x8a, 3, 32, 4,
])
const report = Buffer.from([
  0x81, 200, 0, 12, 1, 2, 3, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 160, 0, 0, 0, 9, 0, 0, 5, 160, 5,
  6, 7, 8, 25, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0x81, 202, 0, 3, 1, 2, 3, 4,
  1, 4, 97, 98, 99, 100, 0, 0, 0x81, 203, 0, 2, 1, 2, 3, 4, 3, 98, 121, 101,
])

export const rtpFuzz: ByteFuzz = {
  name: 'rtp',
  seeds: [rtp, extended, report],
  words: ['\0', '\xff', '\x80', '\0\0\0\0', '\xff\xff\xff\xff', '\x81\xc8', '\xbe\xde'],
  read: (bytes) => {
    looksLikeRtcp(bytes)
    const packet = parseRtpPacket(bytes)
    if (packet !== undefined) {
      parseTelephoneEvent(packet.payload)
      serializeRtpPacket(packet)
    }
    const packets = parseRtcp(bytes)
    if (packets !== undefined) serializeRtcp(packets)
  },
}

if (process.argv[1] === import.meta.filename) runByteFuzz(rtpFuzz)
