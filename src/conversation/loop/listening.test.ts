import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEchoGate } from './echo-gate.ts'
import { createEventQueue } from '../engine/event-queue.ts'
import { createSpeechOnsets } from './speech-onsets.ts'

describe('the echo gate', () => {
  it('takes audio far weaker than what was just sent for an echo, for a while', () => {
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
  it('finds the onset nearest to the engine’s time, if one is near', () => {
    const onsets = createSpeechOnsets()
    assert.equal(onsets.nearest(500), 500)
    for (const atMs of [1_000, 4_000, 5_000]) onsets.add(atMs)
    assert.equal(onsets.nearest(700), 1_000)
    assert.equal(onsets.nearest(4_400), 4_000)
    assert.equal(onsets.nearest(9_000), 9_000)
  })
})

describe('the event queue', () => {
  it('delivers events in order, waits for more, and ends', async () => {
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

  it('accepts no more than its limit', () => {
    const queue = createEventQueue<object>(2)
    assert.deepEqual([queue.push({}), queue.push({}), queue.push({})], [true, true, false])
  })
})
