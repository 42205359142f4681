import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { compactNtp, ntpTime, parseRtcp, serializeRtcp, type RtcpPacket } from './rtcp.ts'

/** Plain objects, so that deepEqual can compare. */
const plainRecord = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(shape, { noNullPrototype: true }) as fc.Arbitrary<T>

const uint32 = fc.nat(0xffff_ffff)
const reportBlock = plainRecord({
  ssrc: uint32,
  fractionLost: fc.nat(255),
  packetsLost: fc.integer({ min: -0x80_0000, max: 0x7f_ffff }),
  highestSequence: uint32,
  jitter: uint32,
  lastSenderReport: uint32,
  delaySinceLastSenderReport: uint32,
})
const reports = fc.array(reportBlock, { maxLength: 3 })
const sender = plainRecord({
  ntpSeconds: uint32,
  ntpFraction: uint32,
  rtpTimestamp: uint32,
  packetCount: uint32,
  octetCount: uint32,
})
const anyPacket: fc.Arbitrary<RtcpPacket> = fc.oneof(
  plainRecord({ type: fc.constant('sender_report' as const), ssrc: uint32, sender, reports }),
  plainRecord({ type: fc.constant('receiver_report' as const), ssrc: uint32, reports }),
  plainRecord({
    type: fc.constant('source_description' as const),
    ssrc: uint32,
    cname: fc.string({ maxLength: 40 }),
  }),
  plainRecord({ type: fc.constant('bye' as const), sources: fc.array(uint32, { maxLength: 3 }) }),
)

test('a sender report with CNAME is laid out as RFC 3550 section 6.4 draws it', () => {
  const bytes = serializeRtcp([
    {
      type: 'sender_report',
      ssrc: 1,
      sender: { ntpSeconds: 2, ntpFraction: 3, rtpTimestamp: 4, packetCount: 5, octetCount: 6 },
      reports: [
        {
          ssrc: 7,
          fractionLost: 128,
          packetsLost: -2,
          highestSequence: 8,
          jitter: 9,
          lastSenderReport: 10,
          delaySinceLastSenderReport: 11,
        },
      ],
    },
    { type: 'source_description', ssrc: 1, cname: 'abc' },
  ])
  assert.equal(
    Buffer.from(bytes).toString('hex'),
    '81c8000c' +
      '00000001' +
      '00000002' +
      '00000003' +
      '00000004' +
      '00000005' +
      '00000006' +
      '00000007' +
      '80fffffe' +
      '00000008' +
      '00000009' +
      '0000000a' +
      '0000000b' +
      '81ca0003' +
      '00000001' +
      '0103616263' +
      '000000',
  )
})

test('what is written is read back, including compounds', () => {
  fc.assert(
    fc.property(fc.array(anyPacket, { minLength: 1, maxLength: 4 }), (packets) => {
      const bytes = serializeRtcp(packets)
      if (bytes.length >= 8) assert.deepEqual(parseRtcp(bytes), packets)
    }),
  )
})

test('unknown packet types within a compound are skipped', () => {
  const feedback = Buffer.from('81cd000200000001' + '00000002', 'hex')
  const bye = serializeRtcp([{ type: 'bye', sources: [9] }])
  assert.deepEqual(parseRtcp(Buffer.concat([feedback, bye])), [{ type: 'bye', sources: [9] }])
})

test('datagrams with inconsistent lengths are refused as a whole', () => {
  const bye = Buffer.from(serializeRtcp([{ type: 'bye', sources: [9] }]))
  for (const [what, bytes] of Object.entries({
    'too short': bye.subarray(0, 4),
    'cut off': bye.subarray(0, 7),
    'trailing bytes': Buffer.concat([bye, Buffer.of(1, 2)]),
    'length beyond the end': Buffer.from('80cb00ff00000009', 'hex'),
    'version 0': Buffer.from('01cb000100000009', 'hex'),
    'too long': Buffer.alloc(1504, bye),
  })) {
    assert.equal(parseRtcp(bytes), undefined, what)
  }
})

test('a count larger than the content gives the content', () => {
  const lying = Buffer.from('9fc9000100000001', 'hex')
  assert.deepEqual(parseRtcp(lying), [{ type: 'receiver_report', ssrc: 1, reports: [] }])
})

test('no datagram makes it throw or hang', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 120 }),
      fc.constantFrom(200, 201, 202, 203, 204),
      fc.nat(31),
      (bytes, type, count) => {
        if (bytes.length >= 4) bytes.set([0x80 | count, type, 0, bytes.length / 4 - 1])
        parseRtcp(bytes)
      },
    ),
    { numRuns: 3000 },
  )
})

test('wall-clock time becomes NTP and its middle 32 bits', () => {
  const time = ntpTime(new Date('1970-01-01T00:00:00.500Z'))
  assert.deepEqual(time, { ntpSeconds: 2_208_988_800, ntpFraction: 0x8000_0000 })
  assert.equal(compactNtp({ ntpSeconds: 0x1234_5678, ntpFraction: 0x9abc_def0 }), 0x5678_9abc)
})
