import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { JitterBuffer, initialDelayMs, maxDelayMs } from './jitter-buffer.ts'

const firstTimestamp = 0xffff_fc00
const neverQuiet = () => false

/** Packet `n` of a stream contains only its own number. */
const packet = (n: number, { offset = 0, bytes = 160 } = {}) => ({
  sequenceNumber: (65_500 + n) & 0xffff,
  timestamp: (firstTimestamp + n * bytes + offset) >>> 0,
  payload: new Uint8Array(bytes).fill((n % 200) + 1),
})

const numberOf = (frame: Uint8Array | undefined): number | undefined =>
  frame === undefined ? undefined : frame[0]! - 1

/** Delivers packet n at tick `arrivals[n]` and returns what each tick played. */
const play = (
  arrivals: readonly (number | undefined)[],
  ticks: number,
  isQuiet: () => boolean = neverQuiet,
) => {
  const buffer = new JitterBuffer('pcmu', isQuiet)
  const played: (number | undefined)[] = []
  for (let tick = 0; tick < ticks; tick++) {
    arrivals.forEach((at, n) => {
      if (at === tick) buffer.put(packet(n))
    })
    played.push(numberOf(buffer.take()))
  }
  return { buffer, played, heard: played.filter((n) => n !== undefined) }
}

const steady = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

describe('the jitter buffer', () => {
  it('plays a steady stream completely, 20 ms later', () => {
    const { played, buffer } = play(steady(40), 41)
    assert.deepEqual(played, [undefined, ...steady(40)])
    assert.equal(buffer.delayMs, initialDelayMs)
    assert.deepEqual([buffer.late, buffer.resyncs], [0, 0])
  })

  it('returns nothing before the first packet', () => {
    const buffer = new JitterBuffer('pcmu', neverQuiet)
    assert.equal(buffer.take(), undefined)
    assert.equal(buffer.delayMs, 0)
  })

  it('restores the order of packets', () => {
    const { heard } = play([0, 2, 1, 3, 5, 4, 6, 7], 12)
    assert.deepEqual(heard, steady(8))
  })

  it('leaves a gap for a lost packet, and plays on in time', () => {
    const { played } = play([0, 1, undefined, 3, 4], 8)
    assert.deepEqual(played.slice(1, 6), [0, 1, undefined, 3, 4])
  })

  it('takes packets of any length', () => {
    for (const bytes of [80, 240, 320]) {
      const buffer = new JitterBuffer('pcmu', neverQuiet)
      const frames: Uint8Array[] = []
      for (let tick = 0, n = 0; tick < 60; tick++) {
        while (n * bytes <= tick * 160) buffer.put(packet(n++, { bytes }))
        const frame = buffer.take()
        if (frame) frames.push(frame)
      }
      const heard = Buffer.concat(frames)
      const expected = Buffer.concat(
        Array.from({ length: 200 }, (_, n) => packet(n, { bytes }).payload),
      )
      assert.deepEqual(heard, expected.subarray(0, heard.length), `${bytes} bytes`)
      assert.ok(heard.length >= 55 * 160)
    }
  })

  it('waits longer after a stall, and late packets are still heard', () => {
    const stalled = steady(60).map((n) => (n >= 20 && n < 23 ? 23 : n))
    const { heard, buffer } = play(stalled, 70)
    assert.deepEqual(heard, steady(60))
    assert.ok(buffer.late >= 1)
    assert.ok(buffer.delayMs <= 80, `${buffer.delayMs}`)
  })

  it('hears the words of a long stall late, and gives their delay back in the next pause', () => {
    const stalled = steady(190).map((n) => (n >= 20 && n < 38 ? 38 : n))
    const { buffer, heard } = play(stalled, 230)
    assert.deepEqual(heard, steady(190))
    assert.ok(buffer.delayMs > 250 && buffer.delayMs <= maxDelayMs, `${buffer.delayMs}`)
    let isPause = false
    const paused = play(
      steady(400).map((n) => (n >= 20 && n < 38 ? 38 : n)),
      400,
      () => isPause || !(isPause = true),
    )
    assert.ok(paused.buffer.delayMs <= 20, `${paused.buffer.delayMs}`)
    assert.ok(paused.heard.length > 375, `${paused.heard.length}`)
  })

  it('drops what is later than 400 ms, and plays on', () => {
    const stalled = steady(120).map((n) => (n >= 20 && n < 60 ? 60 : n))
    const { buffer, heard } = play(stalled, 150)
    assert.deepEqual(heard.slice(-60), steady(120).slice(-60))
    assert.ok(buffer.delayMs <= maxDelayMs)
  })

  it('grows up to 400 ms while jitter lasts, until no packet is late', () => {
    const jittery = steady(400).map((n) => n + (n % 5 === 0 ? 18 : 0))
    const { buffer, heard } = play(jittery, 420)
    assert.deepEqual(
      heard.slice(-200),
      steady(400)
        .slice(-200)
        .map((n) => n % 200),
    )
    assert.ok(buffer.delayMs > 250 && buffer.delayMs <= maxDelayMs, `${buffer.delayMs}`)
  })

  it('waits less than a frame on a line without jitter, losing only quiet frames', () => {
    const { buffer, heard } = play(steady(1000), 1002, () => true)
    assert.ok(buffer.delayMs < 1, `${buffer.delayMs}`)
    assert.equal(heard.length, 999)
  })

  it('keeps up with a sender whose clock is half a percent fast or slow', () => {
    for (const drift of [0.995, 1.005]) {
      const { buffer, heard } = play(
        steady(2000).map((n) => Math.floor(n * drift)),
        2010,
        () => true,
      )
      assert.ok(buffer.delayMs <= 60, `${drift}: ${buffer.delayMs} ms`)
      assert.ok(heard.length > 1970, `${drift}: ${heard.length}`)
      assert.equal(buffer.resyncs, 0)
    }
  })

  it('follows a pause in which the timestamps continued', () => {
    const buffer = new JitterBuffer('pcmu', neverQuiet)
    const heard: number[] = []
    for (let tick = 0; tick < 200; tick++) {
      if (tick < 20 || tick >= 150) buffer.put(packet(tick))
      const n = numberOf(buffer.take())
      if (n !== undefined) heard.push(n)
    }
    assert.equal(heard.length, 20 + 49)
    assert.equal(buffer.resyncs, 0)
  })

  it('restarts when the timestamps jump, in either direction', () => {
    for (const offset of [1_000_000, -1_000_000]) {
      const buffer = new JitterBuffer('pcmu', neverQuiet)
      const heard: number[] = []
      for (let tick = 0; tick < 60; tick++) {
        buffer.put(packet(tick, { offset: tick < 30 ? 0 : offset }))
        const n = numberOf(buffer.take())
        if (n !== undefined) heard.push(n)
      }
      assert.equal(buffer.resyncs, 1)
      assert.deepEqual(heard.slice(-20), steady(59).slice(-20))
    }
  })

  it('ignores one stray timestamp', () => {
    const buffer = new JitterBuffer('pcmu', neverQuiet)
    const heard: (number | undefined)[] = []
    for (let tick = 0; tick < 40; tick++) {
      buffer.put(packet(tick, { offset: tick === 20 ? 5_000_000 : 0 }))
      heard.push(numberOf(buffer.take()))
    }
    assert.equal(buffer.resyncs, 0)
    assert.deepEqual(heard.slice(20, 24), [19, undefined, 21, 22])
  })

  it('drops its content when it is reset', () => {
    const buffer = new JitterBuffer('pcmu', neverQuiet)
    for (let n = 0; n < 3; n++) buffer.put(packet(n))
    buffer.reset()
    assert.equal(buffer.take(), undefined)
    buffer.put(packet(100))
    assert.deepEqual([buffer.take(), numberOf(buffer.take())], [undefined, 100])
  })

  it('never plays a packet twice or out of order, whatever the network does', () => {
    const longestDelayTicks = 12
    const network = fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.nat(3) },
        { weight: 1, arbitrary: fc.nat(longestDelayTicks) },
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
      { minLength: 100, maxLength: 190 },
    )
    fc.assert(
      fc.property(network, (delays) => {
        const arrivals = delays.map((delay, n) => (delay === undefined ? undefined : n + delay))
        const { heard, buffer } = play(arrivals, 220)
        heard.forEach((n, i) =>
          assert.ok(i === 0 || n > heard[i - 1]!, `${n} after ${heard[i - 1]}`),
        )
        // It grows by what it knows: after only late packets, the prompt ones wait longer than its limit.
        assert.ok(buffer.delayMs <= longestDelayTicks * 20 + initialDelayMs)
      }),
      { numRuns: 200 },
    )
  })

  it('survives packets of any timestamp, order and length', () => {
    const buffer = new JitterBuffer('pcma', () => true)
    fc.assert(
      fc.property(
        fc.nat(0xffff),
        fc.nat(0xffff_ffff),
        fc.uint8Array({ maxLength: 2036 }),
        (sequenceNumber, timestamp, payload) => {
          buffer.put({ sequenceNumber, timestamp, payload })
          const frame = buffer.take()
          assert.ok(frame === undefined || frame.length === 160)
        },
      ),
    )
  })
})
