import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBeepDetector } from './beep-detector.ts'
import { createEchoGate } from './echo-gate.ts'
import { createEventQueue } from './event-queue.ts'
import { createSpeechOnsets } from './speech-onsets.ts'

const tone = (hertz: number, amplitude = 8_000): Int16Array =>
  Int16Array.from({ length: 160 }, (_, at) => amplitude * Math.sin((Math.PI * hertz * at) / 4_000))

describe('the beep detector', () => {
  const beepsIn = (frames: readonly Int16Array[]): number => {
    const detector = createBeepDetector()
    return frames.filter((frame) => detector.push(frame)).length
  }
  const silence = new Int16Array(160)
  const run = (frame: Int16Array, length: number): Int16Array[] =>
    Array.from({ length }, () => frame)

  it('hears a steady tone of a quarter of a second, once', () => {
    assert.equal(beepsIn([...run(silence, 5), ...run(tone(1_000), 50), ...run(silence, 5)]), 1)
    assert.equal(beepsIn([...run(tone(440), 12), ...run(silence, 5), ...run(tone(440), 12)]), 2)
  })

  it('does not hear short tones, or tones that move', () => {
    assert.equal(beepsIn([...run(tone(1_000), 11), ...run(silence, 5)]), 0)
    assert.equal(beepsIn(Array.from({ length: 40 }, (_, at) => tone(500 + at * 40))), 0)
  })
})

describe('the echo gate', () => {
  it('takes what is far weaker than what was just sent for an echo, for a while', () => {
    const gate = createEchoGate()
    assert.equal(gate.isEcho(1_000), false)
    gate.sent(1_000_000)
    assert.equal(gate.isEcho(5_000), true)
    assert.equal(gate.isEcho(200_000), false)
    for (let frame = 0; frame < 30; frame += 1) gate.isEcho(0)
    assert.equal(gate.isEcho(5_000), false)
  })
})

describe('speech onsets', () => {
  it('find the onset nearest to the time of the engine, if one is near', () => {
    const onsets = createSpeechOnsets()
    assert.equal(onsets.nearest(500), 500)
    for (const atMs of [1_000, 4_000, 5_000]) onsets.add(atMs)
    assert.equal(onsets.nearest(700), 1_000)
    assert.equal(onsets.nearest(4_400), 4_000)
    assert.equal(onsets.nearest(9_000), 9_000)
  })
})

describe('the event queue', () => {
  it('hands out events in order, waits for more, and ends', async () => {
    const queue = createEventQueue<{ n: number }>(2)
    const taken: number[] = []
    const reading = (async () => {
      for await (const { n } of queue.events) taken.push(n)
    })()
    await Promise.resolve()
    for (const n of [1, 2, 3]) assert.equal(queue.push({ n }), true)
    queue.end()
    assert.equal(queue.push({ n: 4 }), false)
    await reading
    assert.deepEqual(taken, [1, 2, 3])
  })

  it('takes no more than its limit', () => {
    const queue = createEventQueue<object>(2)
    assert.deepEqual([queue.push({}), queue.push({}), queue.push({})], [true, true, false])
  })
})
