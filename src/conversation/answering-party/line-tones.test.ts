import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  busyTone,
  dtmfTone,
  joinSamples,
  silence,
  sine,
  specialInformationTone,
  sumOfSines,
} from '../../audio/tones.ts'
import { createLineToneDetector, type LineTone } from './line-tones.ts'

const tonesIn = (...parts: Int16Array[]): LineTone['kind'][] => {
  const detector = createLineToneDetector()
  const samples = joinSamples(parts)
  const found: LineTone['kind'][] = []
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    const tone = detector.push(samples.subarray(at, at + 160))
    if (tone) found.push(tone.kind)
  }
  return found
}

const pulses = (hertz: readonly number[], onMs: number, offMs: number, count: number): Int16Array =>
  joinSamples(
    Array.from({ length: count }, () =>
      joinSamples([sumOfSines(hertz, onMs, 5000), silence(offMs)]),
    ),
  )

describe('the tones of a line', () => {
  it('contain one beep, reported at its end, at any usual pitch and length', () => {
    for (const hertz of [400, 440, 850, 1000, 1400, 2000]) {
      for (const ms of [140, 500, 1900]) {
        assert.deepEqual(tonesIn(silence(310), sine(hertz, ms), silence(300)), ['beep'], `${hertz}`)
      }
    }
    assert.deepEqual(tonesIn(sine(1000, 500), silence(200)), ['beep'])
    assert.deepEqual(tonesIn(sine(1000, 500), silence(200), sine(1000, 500), silence(200)), [
      'beep',
      'beep',
    ])
  })

  it('contain one beep although one packet of it was lost', () => {
    assert.deepEqual(tonesIn(sine(1000, 200), silence(20), sine(1000, 200), silence(200)), ['beep'])
  })

  it('contain no beep in clicks, endless tones, keys or melodies', () => {
    assert.deepEqual(tonesIn(sine(1000, 60), silence(200)), [])
    assert.deepEqual(tonesIn(sine(1000, 5000), silence(200)), [])
    assert.deepEqual(tonesIn(dtmfTone('5', 400)!, silence(200)), [])
    assert.deepEqual(tonesIn(sine(1000, 200), sine(700, 200), sine(1300, 3000), silence(200)), [])
  })

  it('contain a low beep at the pitch of European ringing tones', () => {
    const detector = createLineToneDetector()
    const samples = joinSamples([sine(425, 500), silence(100)])
    const found: (LineTone | undefined)[] = []
    for (let at = 0; at + 160 <= samples.length; at += 160) {
      found.push(detector.push(samples.subarray(at, at + 160)))
    }
    assert.deepEqual(found.filter(Boolean), [{ kind: 'beep', isLow: true }])
  })

  it('are busy after the third pulse, once, in any country', () => {
    for (const [hertz, onMs, offMs] of [
      [[480, 620], 500, 500],
      [[480, 620], 250, 250],
      [[425], 480, 480],
      [[425], 200, 200],
      [[400], 375, 375],
      [[450], 350, 350],
    ] as const) {
      for (const offsetMs of [0, 7, 13]) {
        const found = tonesIn(silence(offsetMs), pulses(hertz, onMs, offMs, 6))
        assert.equal(found.filter((kind) => kind === 'busy').length, 1, `${hertz.join(' ')} Hz`)
      }
      assert.ok(!tonesIn(pulses(hertz, onMs, offMs, 2)).includes('busy'))
    }
    assert.deepEqual(tonesIn(busyTone(4)), ['busy'])
  })

  it('are not busy while the other phone rings, or with speech in the pauses', () => {
    assert.ok(!tonesIn(pulses([425], 1000, 4000, 5)).includes('busy'))
    assert.ok(!tonesIn(pulses([440, 480], 2000, 4000, 4)).includes('busy'))
    const talk = sumOfSines([220, 700, 1150], 500, 3000)
    const between = Array.from({ length: 5 }, () => [sumOfSines([480, 620], 500, 5000), talk])
    assert.ok(!tonesIn(...between.flat()).includes('busy'))
  })

  it('are the special information tone at its third part, and no beep', () => {
    assert.deepEqual(tonesIn(silence(300), specialInformationTone(), silence(300)), [
      'special_information',
    ])
    const american = [985, 1430, 1777].map((hertz) => sine(hertz, 274))
    assert.deepEqual(tonesIn(...american, silence(300)), ['special_information'])
    assert.deepEqual(tonesIn(sine(950, 330), sine(1400, 330), silence(300)), ['beep'])
  })

  it('are an answering fax before its tone ends, and a calling fax at its second tone', () => {
    assert.ok(tonesIn(silence(500), sine(2100, 2400)).includes('fax'))
    assert.ok(!tonesIn(sine(2100, 1900), silence(200)).includes('fax'))
    assert.ok(!tonesIn(sine(1000, 4000)).includes('fax'))
    assert.deepEqual(tonesIn(pulses([1100], 500, 3000, 2)), ['beep', 'fax'])
    assert.ok(!tonesIn(pulses([1100], 500, 1000, 3)).includes('fax'))
  })
})
