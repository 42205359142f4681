import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSynthesizer } from './flite.ts'
import { createSpeechSegmenter, type SpeechBoundary } from './voice-activity-segmenter.ts'
import { createVoiceActivityDetector, voiceActivityFrameSamples } from './voice-activity.ts'

const padSamples = 16_000
const speech = createSynthesizer().synthesize('Yes, that works for me.', 'kal').samples

const padded = (samples: Int16Array): Int16Array => {
  const line = new Int16Array(samples.length + 2 * padSamples)
  line.set(samples, padSamples)
  return line
}

/** Uniform noise from a small linear congruential generator, so that every run gets the same samples. */
const addNoise = (samples: Int16Array, amplitude: number, seed = 1): Int16Array => {
  let state = seed
  return samples.map((sample) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return sample + (state / 2_147_483_648 - 0.5) * 2 * amplitude
  })
}

const boundariesIn = async (samples: Int16Array): Promise<SpeechBoundary[]> => {
  const detector = await createVoiceActivityDetector()
  const segmenter = createSpeechSegmenter()
  const boundaries: SpeechBoundary[] = []
  for (let at = 0; at + voiceActivityFrameSamples <= samples.length; at += 160) {
    const boundary = segmenter.push(detector.isVoiced(samples.subarray(at, at + 160)))
    if (boundary) boundaries.push(boundary)
  }
  detector.close()
  return boundaries
}

describe('voice activity', () => {
  it('finds one stretch of speech at its position', async () => {
    const [start, stop, ...more] = await boundariesIn(padded(speech))
    assert.equal(start?.kind, 'start')
    assert.ok(start.atMs >= 2_000 && start.atMs <= 2_400, `${start.atMs}`)
    assert.equal(stop?.kind, 'stop')
    assert.ok(Math.abs(stop.atMs - (2_000 + speech.length / 8)) < 400, `${stop.atMs}`)
    assert.deepEqual(more, [])
  })

  it('finds it through a noisy line too', async () => {
    const boundaries = await boundariesIn(addNoise(padded(speech), 250))
    assert.deepEqual(
      boundaries.map((boundary) => boundary.kind),
      ['start', 'stop'],
    )
  })

  for (const amplitude of [0, 100, 600, 1_500]) {
    it(`hears no speech in noise of amplitude ${amplitude}`, async () => {
      assert.deepEqual(await boundariesIn(addNoise(new Int16Array(80_000), amplitude)), [])
    })
  }

  it('takes a loud noise for speech for less than a second, and detects speech above it', async () => {
    const noise = addNoise(new Int16Array(80_000), 3_000)
    const [start, stop, ...more] = await boundariesIn(noise)
    assert.deepEqual([start?.kind, stop?.kind, more], ['start', 'stop', []])
    assert.ok((stop?.atMs ?? Infinity) < 1_000, `${stop?.atMs}`)
    const loud = speech.map((sample) => Math.max(-32_768, Math.min(32_767, sample * 3)))
    const late = new Int16Array(120_000)
    late.set(loud, 60_000)
    const above = (await boundariesIn(addNoise(late, 2_000))).filter(({ atMs }) => atMs > 3_000)
    assert.equal(above[0]?.kind, 'start')
    assert.ok(above[0].atMs >= 7_400 && above[0].atMs <= 8_200, `${above[0].atMs}`)
  })

  it('hears no speech in a beep of 1 kHz', async () => {
    const beep = Int16Array.from({ length: 8_000 }, (_, at) => 9_000 * Math.sin((at * Math.PI) / 4))
    assert.deepEqual(await boundariesIn(padded(beep)), [])
  })

  it('keeps detectors independent and refuses frames of another length', async () => {
    const [one, other] = await Promise.all([
      createVoiceActivityDetector(),
      createVoiceActivityDetector(),
    ])
    one.close()
    one.close()
    assert.equal(one.isVoiced(new Int16Array(160)), false)
    let voiced = 0
    for (let at = 0; at + 160 <= speech.length; at += 160) {
      if (other.isVoiced(speech.subarray(at, at + 160))) voiced += 1
    }
    assert.ok(voiced > 10)
    assert.throws(() => other.isVoiced(new Int16Array(80)), RangeError)
    other.close()
  })
})

describe('the speech segmenter', () => {
  const run = (pattern: string): (SpeechBoundary & { frame: number })[] => {
    const segmenter = createSpeechSegmenter({ onsetFrames: 3, endSilenceMs: 100 })
    return Array.from(pattern).flatMap((mark, frame) => {
      const boundary = segmenter.push(mark === '#')
      return boundary ? [{ ...boundary, frame }] : []
    })
  }

  it('begins with the first of three voiced frames and ends with the last one', () => {
    assert.deepEqual(run('..####..##.......'), [
      { kind: 'start', atMs: 40, frame: 4 },
      { kind: 'stop', atMs: 200, frame: 14 },
    ])
  })

  it('ignores clicks', () => {
    assert.deepEqual(run('..#..##..#.#.#.......'), [])
  })
})
