import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConcealer } from './conceal.ts'
import { createLatch } from './latch.ts'
import { createReception } from './reception.ts'
import { decodeG711, encodeG711, g711Silence } from '../audio/g711.ts'
import { energyOf } from '../audio/level.ts'
import { sine } from '../audio/tones.ts'

const receive = (sequenceNumbers: readonly number[]) => {
  const reception = createReception(1, sequenceNumbers[0]!)
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

test('a report tells the losses since the one before', () => {
  const { reception } = receive([1, 3])
  assert.ok(reception.reportBlock(0).fractionLost > 0)
  for (const n of [4, 5, 6]) reception.update(n, n * 160, n * 160)
  const second = reception.reportBlock(0)
  assert.deepEqual([second.fractionLost, second.packetsLost], [0, 1])
})

test('duplicates are no news, and reordered packets are not lost', () => {
  const { reception, news } = receive([10, 12, 11, 12, 10, 13])
  assert.deepEqual(news, [true, true, true, false, false, true])
  assert.deepEqual([reception.duplicates, reception.reordered, reception.lost], [2, 1, 0])
})

test('jitter follows RFC 3550 A.8: a sixteenth of each change in transit', () => {
  const reception = createReception(1, 0)
  reception.update(0, 0, 0)
  reception.update(1, 160, 160 + 80)
  assert.equal(reception.jitter, 80 / 16)
  reception.update(2, 320, 320 + 80)
  assert.equal(reception.jitter, 5 - 5 / 16)
})

test('a report says which sender report it answers and how long ago it came', () => {
  const { reception } = receive([1])
  assert.equal(reception.reportBlock(99).lastSenderReport, 0)
  reception.senderReport(0xabcd, 1000)
  const block = reception.reportBlock(2500)
  assert.deepEqual([block.lastSenderReport, block.delaySinceLastSenderReport], [0xabcd, 98_304])
})

const declared = { address: '203.0.113.5', port: 4000 }
const nat = { address: '198.51.100.7', port: 6000 }
const intruder = { address: '192.0.2.66', port: 666 }

test('nobody is heard before an address is declared', () => {
  const latch = createLatch('symmetric')
  assert.ok(!Array.from({ length: 5 }, () => latch.accept(nat, 1)).some(Boolean))
})

test('the declared address is heard from its first packet, and latched with its third', () => {
  const latch = createLatch('declared')
  latch.declare(declared)
  assert.ok(latch.accept(declared, 1))
  assert.ok(latch.accept(declared, 1))
  assert.equal(latch.source, undefined)
  assert.ok(latch.accept(declared, 1))
  assert.deepEqual(latch.source, declared)
})

test('another port of the declared address may latch, another address may not', () => {
  const latch = createLatch('declared')
  latch.declare(declared)
  const sibling = { ...declared, port: 4444 }
  assert.deepEqual(
    [1, 2, 3].map(() => latch.accept(sibling, 1)),
    [false, false, true],
  )
  assert.deepEqual(
    [1, 2, 3].map(() => latch.accept(intruder, 1)),
    [false, false, false],
  )
})

test('three packets must be of one SSRC', () => {
  const latch = createLatch('symmetric')
  latch.declare(declared)
  assert.deepEqual(
    [1, 2, 3, 4].map((ssrc) => latch.accept(nat, ssrc)),
    [false, false, false, false],
  )
  assert.equal(latch.source, undefined)
})

test('a latched source is frozen, but a guessed one yields to the declared address', () => {
  const latch = createLatch('symmetric')
  latch.declare(declared)
  for (let i = 0; i < 3; i++) latch.accept(nat, 1)
  for (let i = 0; i < 9; i++) assert.equal(latch.accept(intruder, 2), false)
  assert.deepEqual(latch.source, nat)
  assert.deepEqual(
    [1, 2, 3].map(() => latch.accept(declared, 3)),
    [false, false, true],
  )
  for (let i = 0; i < 9; i++) assert.equal(latch.accept(nat, 1), false)
  assert.deepEqual(latch.source, declared)
})

test('declaring the same address keeps the latch, another one starts over', () => {
  const latch = createLatch('symmetric')
  latch.declare(declared)
  for (let i = 0; i < 3; i++) latch.accept(nat, 1)
  latch.declare({ ...declared })
  assert.deepEqual(latch.source, nat)
  latch.declare({ ...declared, port: 4002 })
  assert.equal(latch.source, undefined)
})

test('a flood of strangers does not keep the real one from latching', () => {
  const latch = createLatch('symmetric')
  latch.declare(declared)
  for (let i = 0; i < 1000; i++) latch.accept({ address: '192.0.2.1', port: i + 1 }, i)
  assert.deepEqual(
    [1, 2, 3].map(() => latch.accept(nat, 1)),
    [false, false, true],
  )
})

test('a hole is filled with the last frame fading out, then silence', () => {
  const concealer = createConcealer('pcmu')
  assert.deepEqual(concealer.conceal(), g711Silence('pcmu'), 'there was nothing to repeat')
  concealer.pass(encodeG711('pcmu', sine(400, 20)))
  const energies = [1, 2, 3, 4].map(() => energyOf(decodeG711('pcmu', concealer.conceal())))
  assert.ok(energies[0]! > energies[1]! && energies[1]! > energies[2]! && energies[2]! > 0)
  assert.equal(energies[3], 0)
  assert.equal(concealer.concealed, 3)
})
