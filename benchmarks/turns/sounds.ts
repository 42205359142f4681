/**
 * The sounds of the benchmark of turns, all made by code, at 8 kHz: words by Flite, noises by filters and oscillators,
 * and what a line does to them. The same seed gives the same samples.
 */
import type { Synthesizer } from '../../src/audio/flite.ts'
import type { FliteVoice } from '../../src/audio/flite-speech.ts'
import { energyOf } from '../../src/audio/level.ts'
import { resample } from '../../src/audio/resample.ts'

const rateHz = 8_000

/** -23 dBFS: a person of usual loudness on a telephone. */
export const speechRms = 2_300

export const samplesOf = (ms: number): number => Math.round((ms * rateHz) / 1_000)

export const silence = (ms: number): Int16Array => new Int16Array(samplesOf(ms))

export const join = (...parts: readonly Int16Array[]): Int16Array => {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

const clip = (value: number): number => Math.max(-32_000, Math.min(32_000, Math.round(value)))

export const louder = (samples: Int16Array, db: number): Int16Array =>
  samples.map((sample) => clip(sample * 10 ** (db / 20)))

/** Scaled so that its loud parts have this level; pauses do not count. */
const atLevel = (samples: Int16Array, rms: number): Int16Array => {
  const loud: number[] = []
  for (let at = 0; at + 160 <= samples.length; at += 160)
    loud.push(energyOf(samples.subarray(at, at + 160)))
  const peak = Math.max(...loud, 1)
  const active = loud.filter((energy) => energy > peak / 100)
  const mean = active.reduce((sum, energy) => sum + energy, 0) / Math.max(1, active.length)
  return samples.map((sample) => clip((sample * rms) / Math.sqrt(mean)))
}

/** The words without the silence around them, at the level of a person on a telephone. */
export const spoken = (
  synthesizer: Synthesizer,
  text: string,
  voice: FliteVoice = 'kal',
): Int16Array => {
  const { samples, sampleRateHz } = synthesizer.synthesize(text, voice)
  const line = sampleRateHz === rateHz ? samples : resample(samples, sampleRateHz, rateHz)
  const isLoud = (sample: number): boolean => Math.abs(sample) > 400
  return atLevel(line.slice(line.findIndex(isLoud), line.findLastIndex(isLoud) + 1), speechRms)
}

export const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0 || 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A resonance of two poles. */
const resonance = (input: Float64Array, hz: number, widthHz: number): Float64Array => {
  const radius = Math.exp((-Math.PI * widthHz) / rateHz)
  const cosine = 2 * radius * Math.cos((2 * Math.PI * hz) / rateHz)
  const output = new Float64Array(input.length)
  for (let at = 0; at < input.length; at += 1)
    output[at] =
      input[at]! + cosine * (output[at - 1] ?? 0) - radius * radius * (output[at - 2] ?? 0)
  return output
}

const shaped = (
  source: Float64Array,
  formants: readonly (readonly [hz: number, widthHz: number])[],
  envelope: (part: number) => number,
): Int16Array => {
  const sum = new Float64Array(source.length)
  for (const [hz, widthHz] of formants) {
    const filtered = resonance(source, hz, widthHz)
    const peak = filtered.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9)
    for (let at = 0; at < sum.length; at += 1) sum[at]! += filtered[at]! / peak
  }
  return Int16Array.from(sum, (value, at) => clip(value * 8_000 * envelope(at / sum.length)))
}

const noise = (ms: number, random: () => number): Float64Array =>
  Float64Array.from({ length: samplesOf(ms) }, () => random() * 2 - 1)

/** Pulses of a voice; `jitter`: how uneven they are. */
const pulses = (
  ms: number,
  hzAt: (part: number) => number,
  jitter: number,
  random: () => number,
): Float64Array => {
  const out = new Float64Array(samplesOf(ms))
  for (let at = 0; at < out.length;) {
    out[Math.floor(at)] = 1 - jitter * random()
    at += (rateHz / hzAt(at / out.length)) * (1 + jitter * (random() - 0.5))
  }
  return out
}

const mixed = (one: Float64Array, other: Float64Array, share: number): Float64Array =>
  one.map((value, at) => value * (1 - share) + (other[at] ?? 0) * share)

const burst = (part: number): number => Math.min(1, part * 12) * Math.exp(-3.5 * part)
const swell = (part: number): number => Math.sin(Math.PI * Math.min(1, part)) ** 0.5

const cough = (random: () => number): Int16Array =>
  join(
    shaped(
      mixed(
        noise(260, random),
        pulses(260, () => 180, 0.5, random),
        0.3,
      ),
      [
        [550, 300],
        [1_400, 500],
        [2_600, 700],
      ],
      burst,
    ),
    silence(130),
    shaped(
      noise(300, random),
      [
        [600, 300],
        [1_500, 500],
      ],
      burst,
    ),
  )

const sneeze = (random: () => number): Int16Array =>
  join(
    louder(shaped(noise(350, random), [[1_000, 600]], swell), -18),
    shaped(
      noise(180, random),
      [
        [2_000, 800],
        [3_200, 600],
      ],
      burst,
    ),
    shaped(
      mixed(
        noise(280, random),
        pulses(280, (part) => 260 - 100 * part, 0.2, random),
        0.6,
      ),
      [
        [350, 120],
        [1_100, 300],
      ],
      burst,
    ),
  )

const throat = (random: () => number): Int16Array =>
  join(
    ...[260, 340].flatMap((ms) => [
      shaped(
        mixed(
          noise(ms, random),
          pulses(ms, () => 85, 0.45, random),
          0.7,
        ),
        [
          [450, 150],
          [1_000, 250],
        ],
        swell,
      ),
      silence(110),
    ]),
  )

const dog = (random: () => number): Int16Array =>
  join(
    ...[0, 1, 2].flatMap(() => [
      shaped(
        mixed(
          noise(190, random),
          pulses(190, (part) => 520 - 220 * part, 0.1, random),
          0.75,
        ),
        [
          [700, 200],
          [1_300, 300],
        ],
        burst,
      ),
      silence(280),
    ]),
  )

const notes = [262, 330, 392, 523, 440, 349, 294, 392]

const holdMusic = (): Int16Array => {
  const out = new Float64Array(samplesOf(3_200))
  for (let at = 0; at < out.length; at += 1) {
    const time = at / rateHz
    const step = Math.floor(time / 0.4)
    const within = time - step * 0.4
    for (const [voice, ratio] of [1, 1.26, 1.5].entries()) {
      const hz = notes[(step + voice) % notes.length]! * ratio
      for (const partial of [1, 2, 3])
        out[at]! +=
          (Math.sin(2 * Math.PI * hz * partial * time) / partial ** 1.5) * Math.exp(-2.5 * within)
    }
  }
  return atLevel(
    Int16Array.from(out, (value) => clip(value * 3_000)),
    speechRms * 0.8,
  )
}

const siren = (): Int16Array => {
  let phase = 0
  return Int16Array.from({ length: samplesOf(3_000) }, (_, at) => {
    phase += (2 * Math.PI * (900 + 300 * Math.sin((2 * Math.PI * at) / rateHz / 1.4))) / rateHz
    return clip(2_600 * (Math.sin(phase) + 0.4 * Math.sin(2 * phase)))
  })
}

const door = (random: () => number): Int16Array =>
  shaped(
    noise(240, random),
    [
      [120, 60],
      [380, 150],
    ],
    burst,
  )

const keyboard = (random: () => number): Int16Array =>
  join(
    ...Array.from({ length: 12 }, () => [
      shaped(noise(25, random), [[2_400, 900]], burst),
      silence(90 + 60 * random()),
    ]).flat(),
  )

const baby = (random: () => number): Int16Array =>
  join(
    ...[0, 1].flatMap(() => [
      shaped(
        pulses(700, (part) => 430 + 120 * Math.sin(Math.PI * part), 0.03, random),
        [
          [1_100, 200],
          [2_800, 400],
        ],
        swell,
      ),
      silence(300),
    ]),
  )

const vacuum = (random: () => number): Int16Array => {
  const hum = pulses(3_000, () => 210, 0.02, random)
  return atLevel(
    shaped(
      mixed(noise(3_000, random), hum, 0.2),
      [
        [420, 500],
        [1_800, 1_500],
      ],
      swell,
    ),
    speechRms,
  )
}

/** A news speaker in the room, 14 dB below the person at the telephone. */
const television = (synthesizer: Synthesizer): Int16Array =>
  louder(
    spoken(
      synthesizer,
      'The government announced on Monday that the new railway between the two cities will open in the spring of next year, after many delays.',
      'rms',
    ),
    -14,
  )

export interface Noise {
  readonly name: string
  readonly samples: Int16Array
}

export const noises = (synthesizer: Synthesizer, seed: number): Noise[] => {
  const random = createRandom(seed)
  return [
    { name: 'cough', samples: atLevel(cough(random), speechRms * 1.4) },
    { name: 'sneeze', samples: atLevel(sneeze(random), speechRms * 1.6) },
    { name: 'throat', samples: atLevel(throat(random), speechRms) },
    { name: 'dog', samples: atLevel(dog(random), speechRms * 1.2) },
    { name: 'hold music', samples: holdMusic() },
    { name: 'television', samples: television(synthesizer) },
    { name: 'siren', samples: siren() },
    { name: 'door', samples: atLevel(door(random), speechRms * 2) },
    { name: 'keyboard', samples: atLevel(keyboard(random), speechRms * 0.7) },
    { name: 'vacuum cleaner', samples: vacuum(random) },
    { name: 'baby', samples: atLevel(baby(random), speechRms) },
  ]
}

/** The line: constant noise and lost packets, which a phone conceals as silence. */
export const overLine = (
  samples: Int16Array,
  { noiseRms, lostPart, seed }: { noiseRms: number; lostPart: number; seed: number },
): Int16Array => {
  const random = createRandom(seed)
  const out = samples.map((sample) => clip(sample + (random() * 2 - 1) * noiseRms * Math.sqrt(3)))
  for (let at = 0; at + 160 <= out.length; at += 160)
    if (random() < lostPart) out.fill(0, at, at + 160)
  return out
}
