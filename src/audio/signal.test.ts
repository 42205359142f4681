import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goertzelPower, pureFrequency } from './goertzel.ts'
import { dbfsOf, energyOf, peakOf } from './level.ts'
import { createPeakMeter } from './peaks.ts'
import { createResampler, resample } from './resample.ts'
import {
  busyTone,
  dtmfFrequencies,
  dtmfTone,
  joinSamples,
  silence,
  sine,
  specialInformationTone,
} from './tones.ts'

const sineAt = (rateHz: number, frequencyHz: number, samples: number): Int16Array =>
  Int16Array.from({ length: samples }, (_, i) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * frequencyHz * i) / rateHz)),
  )

const decibels = (power: number, reference: number): number => 10 * Math.log10(power / reference)

test('level: a full-scale square is 0 dBFS, a sine 3 dB below its peak, silence has none', () => {
  assert.ok(Math.abs(dbfsOf(new Int16Array(100).fill(-32_768))) < 1e-9)
  assert.ok(Math.abs(dbfsOf(sine(1000, 100, 32_767)) + 3.01) < 0.01)
  assert.equal(dbfsOf(new Int16Array(100)), -Infinity)
  assert.equal(energyOf(new Int16Array(0)), 0)
  assert.equal(peakOf(Int16Array.of(3, -32_768, 5)), 32_768)
})

for (const rateHz of [11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]) {
  test(`${rateHz} to 8000 Hz keeps speech frequencies and removes what would alias`, () => {
    const measure = (frequencyHz: number): Int16Array =>
      resample(sineAt(rateHz, frequencyHz, rateHz), rateHz, 8000).subarray(100, 7900)
    for (const kept of [300, 1000, 2000, 3000]) {
      const loss = decibels(energyOf(measure(kept)), 10_000 ** 2 / 2)
      assert.ok(Math.abs(loss) < 0.5, `${kept} Hz: ${loss} dB`)
    }
    for (const removed of [5000, 5500, 6000, 7000]) {
      if (removed >= rateHz / 2) continue
      const rest = decibels(energyOf(measure(removed)), 10_000 ** 2 / 2)
      assert.ok(rest < -60, `${removed} Hz: ${rest} dB`)
    }
  })

  test(`8000 to ${rateHz} Hz and back gives the same signal at the same time`, () => {
    const original = sineAt(8000, 700, 8000)
    const wide = resample(original, 8000, rateHz)
    assert.equal(wide.length, rateHz)
    const back = resample(wide, rateHz, 8000)
    assert.equal(back.length, original.length)
    const difference = back.map((sample, i) => sample - original[i]!).subarray(100, 7900)
    assert.ok(decibels(energyOf(difference), energyOf(original)) < -30)
  })

  test(`${rateHz} to 8000 Hz gives the same whether it comes whole or in odd chunks`, () => {
    const input = sineAt(rateHz, 440, 5000)
    const streaming = createResampler(rateHz, 8000)
    const parts: Int16Array[] = []
    for (let at = 0, size = 1; at < input.length; at += size, size = (size * 7) % 501) {
      parts.push(streaming.process(input.subarray(at, at + size)))
    }
    parts.push(streaming.flush())
    assert.deepEqual(joinSamples(parts), resample(input, rateHz, 8000))
  })

  test(`8000 to ${rateHz} Hz gives the same whether it comes whole or in odd chunks`, () => {
    const input = sineAt(8000, 440, 3000)
    const streaming = createResampler(8000, rateHz)
    const parts: Int16Array[] = []
    for (let at = 0, size = 1; at < input.length; at += size, size = (size * 7) % 501) {
      parts.push(streaming.process(input.subarray(at, at + size)))
    }
    parts.push(streaming.flush())
    assert.deepEqual(joinSamples(parts), resample(input, 8000, rateHz))
  })
}

test('resampling without 8000 Hz on one side, or from an unusual rate, is refused', () => {
  for (const rateHz of [0, 1, 7999, 8001, 22_051, 96_000, Number.NaN])
    assert.throws(() => createResampler(rateHz, 8000), RangeError)
  assert.throws(() => createResampler(48_000, 16_000), RangeError)
  assert.deepEqual(resample(Int16Array.of(1, 2), 8000, 8000), Int16Array.of(1, 2))
})

test('Goertzel finds the energy of a sine at its frequency and none elsewhere', () => {
  const tone = sine(1000, 100)
  assert.ok(Math.abs(goertzelPower(tone, 1000) / energyOf(tone) - 1) < 0.01)
  assert.ok(goertzelPower(tone, 1500) / energyOf(tone) < 0.01)
  assert.equal(goertzelPower(new Int16Array(0), 1000), 0)
})

test('every DTMF digit contains its two frequencies, and other characters have none', () => {
  for (const digit of '0123456789*#ABCD') {
    const tone = dtmfTone(digit)!
    for (const frequencyHz of dtmfFrequencies(digit)!) {
      const share = goertzelPower(tone, frequencyHz) / energyOf(tone)
      assert.ok(share > 0.45 && share < 0.55, `${digit} at ${frequencyHz} Hz: ${share}`)
    }
  }
  assert.equal(dtmfTone('x'), undefined)
  assert.equal(dtmfTone(''), undefined)
})

test('a pure tone is distinguished from two tones, speechlike sums, and silence', () => {
  for (const frequencyHz of [400, 440, 850, 1000, 1400, 2100]) {
    const found = pureFrequency(sine(frequencyHz, 20))
    assert.ok(found !== undefined && Math.abs(found - frequencyHz) <= 25, `${frequencyHz} Hz`)
  }
  for (const other of [dtmfTone('5', 20)!, busyTone(1).subarray(0, 160), silence(20)]) {
    assert.equal(pureFrequency(other), undefined)
  }
})

test('a special information tone is three tones of 330 ms', () => {
  const tone = specialInformationTone()
  assert.equal(tone.length, 3 * 2640)
  for (const [i, frequencyHz] of [950, 1400, 1800].entries()) {
    const part = tone.subarray(i * 2640, (i + 1) * 2640)
    assert.ok(goertzelPower(part, frequencyHz) / energyOf(part) > 0.95)
  }
})

test('peaks do not depend on how the samples are chunked', () => {
  const samples = Int16Array.from({ length: 2500 }, (_, i) => (i === 1700 ? -16_384 : i % 100))
  const whole = createPeakMeter(1000)
  whole.add(samples)
  const cut = createPeakMeter(1000)
  for (let at = 0; at < samples.length; at += 333) cut.add(samples.subarray(at, at + 333))
  assert.deepEqual(cut.finish(), [0.003, 0.5, 0.003])
  assert.deepEqual(whole.finish(), [0.003, 0.5, 0.003])
})

test('the limited search for a pure frequency finds everything that a full search finds', () => {
  let state = 7
  const random = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return state / 0x7fff_ffff
  }
  const everywhere = (frame: Int16Array): number | undefined => {
    const frequencies = Array.from({ length: 73 }, (_, index) => 380 + index * 25)
    const powers = frequencies.map((hz) => goertzelPower(frame, hz))
    const greatest = Math.max(...powers)
    const isPure = greatest >= 0.7 * energyOf(frame)
    return isPure ? frequencies[powers.indexOf(greatest)] : undefined
  }
  const disturbed = (kind: number): Int16Array => {
    const [hz, otherHz, share] = [300 + random() * 2000, 50 + random() * 3900, random()]
    const [from, to] = [Math.floor(random() * 60), 160 - Math.floor(random() * 60)]
    const other = (at: number): number => share * Math.sin((2 * Math.PI * otherHz * at) / 8000)
    return Int16Array.from({ length: 160 }, (_, at) => {
      const tone = Math.sin((2 * Math.PI * hz * at) / 8000)
      if (kind === 0) return 6000 * (tone + other(at))
      if (kind === 1) return 6000 * (tone + 1.3 * share * (2 * random() - 1))
      if (kind === 2) return at < from || at >= to ? 0 : 6000 * tone
      if (kind === 3) return 6000 * (at < from ? tone - 2 * share * tone : tone)
      return 6000 * (at < to ? tone : tone + 2 * other(at))
    })
  }
  let pure = 0
  for (let count = 0; count < 4000; count++) {
    const frame = disturbed(count % 5)
    const found = everywhere(frame)
    if (found !== undefined) pure++
    assert.equal(pureFrequency(frame), found)
  }
  assert.ok(pure > 1000 && pure < 3000, `${pure}`)
})
