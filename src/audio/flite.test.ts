import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FliteVoice } from './flite-speech.ts'
import { createSynthesizer } from './flite.ts'
import { listRecordedSpeech } from './recorded-speech.ts'

const durationSeconds = (speech: { samples: Int16Array; sampleRateHz: number }): number =>
  speech.samples.length / speech.sampleRateHz

const loudest = (samples: Int16Array): number =>
  samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)

describe('the Flite synthesizer', () => {
  const synthesizer = createSynthesizer()

  for (const [voice, sampleRateHz] of [
    ['kal', 8_000],
    ['slt', 16_000],
    ['awb', 16_000],
    ['rms', 16_000],
    ['kal16', 16_000],
  ] as const satisfies readonly (readonly [FliteVoice, number])[]) {
    it(`speaks with ${voice} at ${sampleRateHz} Hz`, () => {
      const speech = synthesizer.synthesize('Good morning, how are you?', voice)
      assert.equal(speech.sampleRateHz, sampleRateHz)
      assert.ok(durationSeconds(speech) > 1 && durationSeconds(speech) < 3)
      assert.ok(loudest(speech.samples) > 3_000)
    })
  }

  it('survives a hundred runs and always returns the same samples', () => {
    const uncached = createSynthesizer({ cacheBytes: 0 })
    const first = uncached.synthesize('Yes.', 'kal').samples
    for (let run = 0; run < 100; run += 1) {
      assert.deepEqual(uncached.synthesize('Yes.', 'kal').samples, first)
    }
  })

  it('says the same after other texts and voices as at its first run', () => {
    const uncached = createSynthesizer({ cacheBytes: 0 })
    const texts = ['Thank you.', 'Dr. Smith has $3.50 and 2 dogs!', 'hello '.repeat(60), '42']
    const speakAll = (voice: FliteVoice) =>
      texts.map((text) => uncached.synthesize(text, voice).samples)
    const first = speakAll('kal')
    speakAll('slt')
    assert.deepEqual(speakAll('kal'), first)
    const [thanks] = first
    assert.deepEqual(thanks, uncached.synthesize('Thank you.', 'kal').samples)
  })

  it('returns the cached speech until newer speech evicts it', () => {
    const small = createSynthesizer({ cacheBytes: 30_000 })
    const first = small.synthesize('Yes.', 'kal')
    assert.equal(small.synthesize('Yes.', 'kal'), first)
    small.synthesize('No.', 'kal')
    small.synthesize('Maybe.', 'kal')
    small.synthesize('Never mind.', 'kal')
    assert.notEqual(small.synthesize('Yes.', 'kal'), first)
  })

  it('speaks recorded lines as it would anew', () => {
    const anew = createSynthesizer({ recorded: () => undefined })
    const recorded = listRecordedSpeech()
    assert.ok(recorded.length > 0)
    for (const { text, voice } of recorded)
      assert.deepEqual(synthesizer.synthesize(text, voice), anew.synthesize(text, voice), text)
  })

  it('hums for a script it cannot read', () => {
    const hum = synthesizer.synthesize('日本語で話します', 'slt')
    assert.equal(hum.sampleRateHz, 16_000)
    assert.ok(durationSeconds(hum) > 0.5)
    assert.ok(loudest(hum.samples) > 1_000)
  })

  it('drops accents instead of words', () => {
    const plain = synthesizer.synthesize('Ola, senora', 'kal')
    assert.deepEqual(synthesizer.synthesize('Olá, señora', 'kal').samples, plain.samples)
  })

  it('says nothing for empty text', () => {
    assert.equal(synthesizer.synthesize(' \n ', 'kal').samples.length, 0)
  })

  it('treats text that looks like an option, or contains a NUL, as text', () => {
    for (const text of ['-h', '--help', 'in\0out', '/etc/hostname']) {
      assert.ok(durationSeconds(synthesizer.synthesize(text, 'kal')) > 0.3, text)
    }
  })

  it('speaks no more than its first four thousand characters', () => {
    const word = 'ha '
    const longest = synthesizer.synthesize(word.repeat(1_333), 'kal')
    const longer = synthesizer.synthesize(word.repeat(2_000), 'kal')
    assert.ok(durationSeconds(longer) <= durationSeconds(longest) * 1.01)
  })
})
