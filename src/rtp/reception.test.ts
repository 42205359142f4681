import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConcealer } from './conceal.ts'
import { createLatch, type Latch, type MediaSource } from './latch.ts'
import { Reception } from './reception.ts'
import { decodeG711, encodeG711, g711Silence } from '../audio/g711.ts'
import { energyOf } from '../audio/level.ts'
import { sine } from '../audio/tones.ts'

const receive = (sequenceNumbers: readonly number[]) => {
  const reception = new Reception(1, sequenceNumbers[0]!)
  const news = sequenceNumbers.map((n) => reception.update(n, n * 160, n * 160))
  return { reception, news }
}

test('losses are counted across the wrap of the sequence number', () => {
  const { reception } = receive([65_533, 65_534, 1, 2])
  assert.deepEqual([reception.received, reception.lost], [4, 2])
  const block = reception.reportBlock(0)
  assert.deepEqual(
    [block.packetsLost, block.fractionLost, block.highestSequence],
    [2, Math.floor((2 * 256) / 6), 65_538],
  )
})

test('a report contains the losses since the previous one', () => {
  const { reception } = receive([1, 3])
  assert.ok(reception.reportBlock(0).fractionLost > 0)
  for (const n of [4, 5, 6]) reception.update(n, n * 160, n * 160)
  const second = reception.reportBlock(0)
  assert.deepEqual([second.fractionLost, second.packetsLost], [0, 1])
})

test('duplicates are ignored, and reordered packets are not lost', () => {
  const { reception, news } = receive([10, 12, 11, 12, 10, 13])
  assert.deepEqual(news, [true, true, true, false, false, true])
  assert.deepEqual([reception.duplicates, reception.reordered, reception.lost], [2, 1, 0])
})

test('jitter follows RFC 3550 A.8: a sixteenth of each change in transit', () => {
  const reception = new Reception(1, 0)
  reception.update(0, 0, 0)
  reception.update(1, 160, 160 + 80)
  assert.equal(reception.jitter, 80 / 16)
  reception.update(2, 320, 320 + 80)
  assert.equal(reception.jitter, 5 - 5 / 16)
})

test('a report names the last sender report and how long ago it came', () => {
  const { reception } = receive([1])
  assert.equal(reception.reportBlock(99).lastSenderReport, 0)
  reception.senderReport(0xabcd, 1000)
  const block = reception.reportBlock(2500)
  assert.deepEqual([block.lastSenderReport, block.delaySinceLastSenderReport], [0xabcd, 98_304])
})

const declared = { address: '203.0.113.5', port: 4000 }
const nat = { address: '198.51.100.7', port: 6000 }
const intruder = { address: '192.0.2.66', port: 666 }

/** Packets of one SSRC in sequence: the result of each `accept`. */
const say = (latch: Latch, from: MediaSource, ssrc = 1, count = 3, isPlausible = true): boolean[] =>
  Array.from({ length: count }, (_, at) =>
    latch.accept(from, { ssrc, sequenceNumber: (65_534 + at) & 0xffff }, isPlausible),
  )
/** Nine packets, the first after this much silence. */
const sayAfter = (silentMs: number, latch: Latch, from: MediaSource, ssrc = 1): boolean[] =>
  Array.from({ length: 9 }, (_, at) =>
    latch.accept(from, { ssrc, sequenceNumber: 100 + at }, true, silentMs),
  )
const all = (value: boolean, count = 3): boolean[] => Array.from({ length: count }, () => value)

test('no source is accepted before an address is declared', () => {
  assert.deepEqual(say(createLatch(), nat, 1, 5), all(false, 5))
})

test('the declared address is accepted from its first packet, and latched with its third', () => {
  const latch = createLatch()
  latch.declare(declared)
  assert.deepEqual(say(latch, declared, 1, 2), all(true, 2))
  assert.equal(latch.source, undefined)
  latch.accept(declared, { ssrc: 1, sequenceNumber: 0 }, true)
  assert.deepEqual(latch.source, declared)
})

test('another port of the declared address may latch, another address may not', () => {
  const latch = createLatch()
  latch.declare(declared)
  assert.deepEqual(say(latch, { ...declared, port: 4444 }), [false, false, true])
  latch.declare({ ...declared, port: 4002 })
  assert.deepEqual(say(latch, intruder, 1, 9), all(false, 9))
})

test('once the declared port has sent, no other port is guessed, but it is still accepted', () => {
  const latch = createLatch()
  latch.declare(declared)
  assert.ok(latch.accept(declared, { ssrc: 1, sequenceNumber: 1 }, true))
  assert.deepEqual(say(latch, { ...declared, port: 4444 }, 1, 9), all(false, 9))
  assert.deepEqual(say(latch, declared), all(true))
})

test('other addresses count if they are listed, and any on a symmetric trunk', () => {
  for (const others of [[nat.address], 'any'] as const) {
    const latch = createLatch()
    latch.declare({ address: '10.0.0.9', port: 4000 }, others)
    const isAnybody = others === 'any'
    assert.deepEqual(say(latch, intruder), [false, false, isAnybody])
    latch.declare({ address: '10.0.0.9', port: 4002 }, others)
    assert.deepEqual(say(latch, nat), [false, false, true])
  }
})

test('packets that form no stream, or have no negotiated type, never latch', () => {
  const latch = createLatch()
  latch.declare(declared, 'any')
  assert.deepEqual(
    [1, 2, 3, 4].map((ssrc) => latch.accept(nat, { ssrc, sequenceNumber: ssrc }, true)),
    all(false, 4),
  )
  assert.deepEqual(say(latch, nat, 9, 9, false), all(false, 9))
  const repeated = Array.from({ length: 9 }, () =>
    latch.accept(nat, { ssrc: 5, sequenceNumber: 5 }, true),
  )
  assert.deepEqual(repeated, all(false, 9))
  const leaping = [1, 5000, 10_000].map((sequenceNumber) =>
    latch.accept(nat, { ssrc: 6, sequenceNumber }, true),
  )
  assert.deepEqual(leaping, all(false))
  assert.equal(latch.source, undefined)
})

test('a latched source is fixed, but a guessed one yields to the declared address', () => {
  const latch = createLatch()
  latch.declare(declared, 'any')
  say(latch, nat)
  assert.deepEqual(say(latch, intruder, 2, 9), all(false, 9))
  assert.deepEqual(latch.source, nat)
  assert.deepEqual(say(latch, declared, 3), [false, false, true])
  assert.deepEqual(say(latch, nat, 1, 9), all(false, 9))
  assert.deepEqual(latch.source, declared)
})

test('declaring the same address keeps the latch, another one resets it', () => {
  const latch = createLatch()
  latch.declare(declared, 'any')
  say(latch, nat)
  latch.declare({ ...declared }, 'any')
  assert.deepEqual(latch.source, nat)
  latch.declare({ ...declared, port: 4002 }, 'any')
  assert.equal(latch.source, undefined)
})

const moved = { ...declared, port: 4444 }

test('a source that is silent for two seconds may have moved to another port of its address', () => {
  const latch = createLatch()
  latch.declare(declared)
  say(latch, declared)
  assert.deepEqual(sayAfter(1_999, latch, moved, 2), all(false, 9))
  assert.deepEqual(sayAfter(2_000, latch, moved, 2).slice(0, 3), [false, false, true])
  assert.deepEqual(latch.source, moved)
  assert.deepEqual(say(latch, declared, 1, 3), [false, false, true])
})

test('the stream itself may go on from another port of its address after a tenth of a second', () => {
  const latch = createLatch()
  latch.declare(declared)
  say(latch, declared)
  assert.deepEqual(sayAfter(99, latch, moved), all(false, 9))
  assert.deepEqual(sayAfter(60_000, latch, intruder), all(false, 9))
  const leap = [400, 401, 402].map((sequenceNumber) =>
    latch.accept(moved, { ssrc: 1, sequenceNumber }, true, 1_999),
  )
  assert.deepEqual(leap, all(false))
  assert.deepEqual(sayAfter(100, latch, moved).slice(0, 3), [false, false, true])
  assert.deepEqual(latch.source, moved)
})

test('a source may move to an address of the trunk, and never to a stranger’s', () => {
  for (const others of [[nat.address], 'any'] as const) {
    const latch = createLatch()
    latch.declare({ address: '10.0.0.9', port: 4000 }, others)
    say(latch, nat)
    assert.deepEqual(sayAfter(60_000, latch, intruder), all(false, 9))
    const rebound = { ...nat, port: 6001 }
    assert.deepEqual(sayAfter(2_000, latch, rebound).slice(0, 3), [false, false, true])
    assert.deepEqual(latch.source, rebound)
  }
})

test('what is on its way from the old source is not heard after a move, nor if it goes on for ever', () => {
  const latch = createLatch()
  latch.declare(declared, [nat.address])
  say(latch, nat, 1)
  latch.declare({ ...declared, port: 4002 }, [nat.address])
  assert.deepEqual(say(latch, nat, 1, 20), all(false, 20))
  assert.deepEqual(sayAfter(60_000, latch, nat, 1), all(false, 9))
  assert.deepEqual(say(latch, { ...nat, port: 7000 }, 2), [false, false, true])
})

test('a silent source may come back with a new stream to the port that it had before', () => {
  const latch = createLatch()
  latch.declare(declared, [nat.address])
  say(latch, nat, 1)
  latch.declare({ ...declared, port: 4002 }, [nat.address])
  assert.deepEqual(sayAfter(2_000, latch, nat, 2).slice(0, 3), [false, false, true])
})

test('an address is the same in every notation', () => {
  const latch = createLatch()
  latch.declare({ address: '2001:DB8:0::0001', port: 4000 })
  assert.deepEqual(say(latch, { address: '2001:db8::1', port: 4000 }), all(true))
})

test('a flood of strangers does not prevent the real source from latching', () => {
  const latch = createLatch()
  latch.declare(declared, 'any')
  for (let i = 0; i < 1000; i++) say(latch, { address: '192.0.2.1', port: i + 1 }, i, 1)
  assert.deepEqual(say(latch, nat), [false, false, true])
})

test('a gap is filled with the last frame fading out, then silence', () => {
  const concealer = createConcealer('pcmu')
  assert.deepEqual(concealer.conceal(), g711Silence('pcmu'), 'there was nothing to repeat')
  concealer.pass(encodeG711('pcmu', sine(400, 20)))
  const energies = [1, 2, 3, 4].map(() => energyOf(decodeG711('pcmu', concealer.conceal())))
  assert.ok(energies[0]! > energies[1]! && energies[1]! > energies[2]! && energies[2]! > 0)
  assert.equal(energies[3], 0)
  assert.equal(concealer.concealed, 3)
})
