import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TurnLatency } from './conversation-types.ts'
import { createTurnLatencyMeter } from './turn-latency.ts'

const createBench = () => {
  let clockMs = 0
  const latencies: TurnLatency[] = []
  const firstWords: number[] = []
  const meter = createTurnLatencyMeter(
    {
      onLatency: (latency) => latencies.push(latency),
      onFirstWords: (atMs) => firstWords.push(atMs),
    },
    { monotonicMs: () => clockMs },
  )
  const at = (ms: number): typeof meter => {
    clockMs = ms
    return meter
  }
  return { at, latencies, firstWords }
}

const audio = (utteranceId: string) =>
  ({ type: 'audio', utteranceId, g711: new Uint8Array(160) }) as const
const stop = { type: 'speech_stop', atMs: 0 } as const
const words = { type: 'contact_text', text: 'Yes.', startMs: 0 } as const

describe('the latency of a turn', () => {
  it('is reported stage by stage for a model that hears and speaks itself', () => {
    const { at, latencies } = createBench()
    at(1_000).heardVoice()
    at(1_520).took(stop)
    at(1_900).took(audio('u1'))
    at(1_910).took(words)
    at(1_912).played('u1', 1_900, true)
    at(1_932).played('u1', 1_920, true)
    assert.deepEqual(latencies, [
      {
        audioOffsetMs: 1_900,
        endpointingMs: 520,
        transcriptionMs: null,
        modelMs: 380,
        speechMs: null,
        ownMs: 12,
        totalMs: 912,
      },
    ])
  })

  it('is reported stage by stage for three servers in a row', () => {
    const { at, latencies } = createBench()
    at(0).heardVoice()
    at(500).took(stop)
    at(700).took(words)
    at(1_000).took({ type: 'first_words', utteranceId: 'u1' })
    at(1_150).took(audio('u1'))
    at(1_160).played('u1', 1_160, true)
    assert.deepEqual(latencies, [
      {
        audioOffsetMs: 1_160,
        endpointingMs: 500,
        transcriptionMs: 200,
        modelMs: 300,
        speechMs: 150,
        ownMs: 10,
        totalMs: 1_160,
      },
    ])
  })

  it('is measured from the end of the callee’s last speech', () => {
    const { at, latencies } = createBench()
    at(0).heardVoice()
    at(500).took(stop)
    at(600).took({ type: 'speech_start', atMs: 0 })
    at(900).heardVoice()
    at(1_400).took(stop)
    at(1_700).took(audio('u1'))
    at(1_700).played('u1', 1_700, true)
    assert.deepEqual(
      latencies.map(({ totalMs }) => totalMs),
      [800],
    )
  })

  it('is absent for speech that already played, and for unrequested speech', () => {
    const { at, latencies, firstWords } = createBench()
    at(0).took(audio('greeting'))
    at(20).played('greeting', 120, false)
    at(40).played('greeting', 140, true)
    at(60).heardVoice()
    at(600).took(stop)
    at(620).took(audio('greeting'))
    at(640).played('greeting', 740, true)
    assert.deepEqual([latencies, firstWords], [[], [140]])
  })
})
