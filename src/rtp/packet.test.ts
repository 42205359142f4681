import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import {
  looksLikeRtcp,
  maxRtpBytes,
  parseRtpPacket,
  sequenceDistance,
  serializeRtpPacket,
  timestampDistance,
} from './packet.ts'

/** Plain objects, so that deepEqual can compare. */
const plainRecord = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(shape, { noNullPrototype: true }) as fc.Arbitrary<T>

const anyPacket = plainRecord({
  marker: fc.boolean(),
  payloadType: fc.nat(127),
  sequenceNumber: fc.nat(0xffff),
  timestamp: fc.nat(0xffff_ffff),
  ssrc: fc.nat(0xffff_ffff),
  payload: fc.uint8Array({ maxLength: 400 }),
})

test('a packet is laid out as RFC 3550 section 5.1 draws it', () => {
  const bytes = serializeRtpPacket({
    marker: true,
    payloadType: 8,
    sequenceNumber: 0x0102,
    timestamp: 0xfffefdfc,
    ssrc: 0x0a0b0c0d,
    payload: Uint8Array.of(0xd5),
  })
  assert.equal(Buffer.from(bytes).toString('hex'), '80880102fffefdfc0a0b0c0dd5')
})

test('what is written is read back', () => {
  fc.assert(
    fc.property(anyPacket, (packet) => {
      const read = parseRtpPacket(serializeRtpPacket(packet))!
      assert.deepEqual({ ...read, payload: Uint8Array.from(read.payload) }, packet)
    }),
  )
})

test('contributing sources, an extension and padding are skipped', () => {
  const header = '82' + '00' + '0001' + '00000000' + '00000007'
  const sources = '0000000100000002'
  assert.equal(parse(header + sources + 'aabb')?.payload, 'aabb')
  const extended = '90' + header.slice(2) + 'bede0001' + '11223344'
  assert.equal(parse(extended + 'aabb')?.payload, 'aabb')
  const padded = 'a0' + header.slice(2) + 'aabb' + '000003'
  assert.equal(parse(padded)?.payload, 'aabb')
})

test('malformed datagrams are not packets', () => {
  const header = '8000' + '0001' + '00000000' + '00000007'
  for (const [what, hex] of Object.entries({
    empty: '',
    short: header.slice(0, 22),
    'version 1': '40' + header.slice(2),
    'sources beyond the end': '8f' + header.slice(2),
    'extension beyond the end': '90' + header.slice(2) + 'bede0009' + '11223344',
    'no room for the extension header': '90' + header.slice(2) + 'be',
    'more padding than payload': 'a0' + header.slice(2) + 'aa09',
    'padding of nothing': 'a0' + header.slice(2) + 'aa00',
  })) {
    assert.equal(parse(hex), undefined, what)
  }
  const endless = new Uint8Array(maxRtpBytes + 1)
  endless[0] = 0x80
  assert.equal(parseRtpPacket(endless), undefined)
})

test('no datagram makes it throw, and a payload never exceeds the datagram', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(255), (bytes, first) => {
      if (bytes.length > 0) bytes[0] = 0x80 | first
      const packet = parseRtpPacket(bytes)
      if (packet) assert.ok(packet.payload.length <= bytes.length - 12)
    }),
    { numRuns: 2000 },
  )
})

test('sequence numbers and timestamps are compared modulo their range', () => {
  assert.equal(sequenceDistance(65_535, 0), 1)
  assert.equal(sequenceDistance(0, 65_535), -1)
  assert.equal(sequenceDistance(10, 300), 290)
  assert.equal(timestampDistance(0xffff_ff60, 0), 160)
  assert.equal(timestampDistance(0, 0xffff_ff60), -160)
})

test('RTCP is distinguished from RTP by its second byte, for every payload type we use', () => {
  for (const type of [200, 201, 202, 203]) assert.ok(looksLikeRtcp(Uint8Array.of(0x80, type)))
  for (const type of [0, 8, 13, 101, 0x80, 0x88, 0xe5]) {
    assert.ok(!looksLikeRtcp(Uint8Array.of(0x80, type)), `${type}`)
  }
})

const parse = (hex: string): { payload: string } | undefined => {
  const packet = parseRtpPacket(Buffer.from(hex, 'hex'))
  return packet && { payload: Buffer.from(packet.payload).toString('hex') }
}
