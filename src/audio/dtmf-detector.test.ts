import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDtmfDetector } from './dtmf-detector.ts'
import { createSynthesizer } from './flite.ts'
import { decodeG711, encodeG711 } from './g711.ts'
import { resample } from './resample.ts'
import { dtmfFrequencies, dtmfTone, joinSamples, silence, sine, sumOfSines } from './tones.ts'

const digitsIn = (...parts: Int16Array[]): string => {
  const detector = createDtmfDetector()
  const samples = decodeG711('pcmu', encodeG711('pcmu', joinSamples(parts)))
  let digits = ''
  for (let at = 0; at + 160 <= samples.length; at += 160)
    digits += detector.push(samples.subarray(at, at + 160)) ?? ''
  return digits
}

const allKeys = '0123456789*#ABCD'

test('every key is heard once, however it lies within the frames, loud or quiet', () => {
  for (const offsetMs of [0, 7, 13]) {
    const parts = Array.from(allKeys).flatMap((key) => [dtmfTone(key, 80)!, silence(70)])
    assert.equal(digitsIn(silence(offsetMs), ...parts), allKeys)
  }
  const [row, column] = dtmfFrequencies('5')!
  for (const amplitude of [1_000, 14_000])
    assert.equal(digitsIn(sumOfSines([row, column], 100, amplitude), silence(60)), '5')
})

test('the same key twice is two presses, a long press one', () => {
  assert.equal(digitsIn(dtmfTone('7')!, silence(60), dtmfTone('7')!, silence(60)), '77')
  assert.equal(digitsIn(dtmfTone('7', 2_000)!, silence(60)), '7')
})

test('a lost packet makes no second press', () => {
  assert.equal(digitsIn(dtmfTone('3', 100)!, silence(20), dtmfTone('3', 100)!, silence(60)), '3')
})

test('one tone, a click and speech are no keys', () => {
  assert.equal(digitsIn(sine(697, 500), silence(60), sine(1209, 500), silence(60)), '')
  assert.equal(digitsIn(dtmfTone('1', 15)!, silence(100)), '')
  const synthesizer = createSynthesizer()
  for (const voice of ['kal', 'slt'] as const) {
    const { samples, sampleRateHz } = synthesizer.synthesize(
      'Zero one two three four five six seven eight nine. We meet you and me, you do too, in the blue room at noon.',
      voice,
    )
    assert.equal(digitsIn(resample(samples, sampleRateHz, 8000)), '')
  }
})
