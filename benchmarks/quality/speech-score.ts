/**
 * An intrusive measure of speech at 8 kHz: how far the loudness in 18 critical bands differs from the reference, in the
 * manner of P.862, and on its scale (4.5 is the reference itself). It is our own and was calibrated with no listeners: its
 * figures compare conditions of one run, and are not MOS-LQO. Each sentence is aligned by itself, so that a buffer may
 * change its delay in a pause.
 */
export interface SpeechScore {
  /** 1 to 4.5. */
  readonly score: number
  /** Of the aligned samples, 0 to 1. */
  readonly correlation: number
  /** Frames of 20 ms that are silent where the reference speaks, per thousand. */
  readonly gapsPerThousand: number
  /** Of the sentences, milliseconds: the median. */
  readonly delayMs: number
}

/** A sentence of the reference: its samples from and to. */
export interface Sentence {
  readonly from: number
  readonly to: number
}

const size = 256
const hop = 128
const samplesPerMs = 8
const maxDelaySamples = 900 * samplesPerMs
const gapFrame = 160

/** Edges of critical bands of the telephone channel, in Hz (Zwicker). */
const edgesHz = [
  100, 200, 300, 400, 510, 630, 770, 920, 1080, 1270, 1480, 1720, 2000, 2320, 2700, 3150, 3700,
]

export const scoreSpeech = (
  reference: Int16Array,
  heard: Int16Array,
  sentences: readonly Sentence[],
): SpeechScore => {
  const parts = sentences.map((sentence) => {
    const delay = delayOf(reference, heard, sentence)
    const length = sentence.to - sentence.from
    const shifted = new Int16Array(length)
    shifted.set(heard.subarray(sentence.from + delay, sentence.to + delay))
    return { delay, spoken: reference.subarray(sentence.from, sentence.to), shifted }
  })
  const disturbances = parts.flatMap(({ spoken, shifted }) => disturbancesOf(spoken, shifted))
  const [symmetric, asymmetric] = [0, 1].map((index) =>
    overTime(disturbances.map((each) => each[index] ?? 0)),
  )
  const raw = 4.5 - 0.1 * (symmetric ?? 0) - 0.0309 * (asymmetric ?? 0)
  const delays = parts.map(({ delay }) => delay / samplesPerMs).toSorted((a, b) => a - b)
  return {
    score: Math.min(4.5, Math.max(1, raw)),
    correlation: correlationOf(parts),
    gapsPerThousand: gapsOf(parts),
    delayMs: delays[Math.floor(delays.length / 2)] ?? 0,
  }
}

type Part = { readonly spoken: Int16Array; readonly shifted: Int16Array }

/** By the envelopes first, then by the samples around it. */
const delayOf = (reference: Int16Array, heard: Int16Array, { from, to }: Sentence): number => {
  const step = 40
  const spoken = envelopeOf(reference.subarray(from, to), step)
  const all = envelopeOf(heard.subarray(from, to + maxDelaySamples), step)
  const coarse = bestLag(spoken, all, 0, maxDelaySamples / step) * step
  let best = { delay: coarse, product: -Infinity }
  for (let delay = Math.max(0, coarse - step); delay <= coarse + step; delay += 1) {
    let product = 0
    for (let at = from; at < to; at += 1) product += reference[at]! * (heard[at + delay] ?? 0)
    if (product > best.product) best = { delay, product }
  }
  return best.delay
}

const envelopeOf = (samples: Int16Array, step: number): Float64Array => {
  const envelope = new Float64Array(Math.floor(samples.length / step))
  for (let at = 0; at < envelope.length * step; at += 1)
    envelope[Math.floor(at / step)]! += Math.abs(samples[at]!)
  return envelope
}

const bestLag = (a: Float64Array, b: Float64Array, from: number, to: number): number => {
  let best = { lag: from, product: -Infinity }
  for (let lag = from; lag <= to; lag += 1) {
    let product = 0
    for (let at = 0; at < a.length; at += 1) product += a[at]! * (b[at + lag] ?? 0)
    if (product > best.product) best = { lag, product }
  }
  return best.lag
}

const disturbancesOf = (spoken: Int16Array, shifted: Int16Array): [number, number][] => {
  const found: [number, number][] = []
  for (let at = 0; at + size <= spoken.length; at += hop) {
    const [clean, heard] = [bandsOf(spoken, at), bandsOf(shifted, at)]
    let symmetric = 0
    let asymmetric = 0
    for (const [band, power] of clean.entries()) {
      const [one, other] = [loudness(power), loudness(heard[band]!)]
      // What differs by less than a quarter of the quieter one is masked.
      const difference = Math.max(0, Math.abs(one - other) - 0.25 * Math.min(one, other))
      const ratio = ((heard[band]! + 5e5) / (power + 5e5)) ** 1.2
      symmetric += difference ** 2
      asymmetric += difference * (ratio < 3 ? 0 : Math.min(12, ratio))
    }
    found.push([Math.sqrt(symmetric / clean.length), asymmetric / clean.length])
  }
  return found
}

/** Loudness grows with the power to 0.23 (Zwicker), above the quietest audible. */
const loudness = (power: number): number => 2.75 * (Math.max(0, power) / 1e4) ** 0.23

const window = Float64Array.from(
  { length: size },
  (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size),
)

const bandsOf = (samples: Int16Array, from: number): number[] => {
  const bands = edgesHz.slice(1).map(() => 0)
  for (let bin = 4; bin < size / 2; bin += 1) {
    const hz = (bin * 8000) / size
    const band = edgesHz.findLastIndex((edge) => edge <= hz)
    if (band < 0 || band >= bands.length) continue
    let real = 0
    let imaginary = 0
    for (let at = 0; at < size; at += 1) {
      const value = samples[from + at]! * window[at]!
      const angle = (2 * Math.PI * bin * at) / size
      real += value * Math.cos(angle)
      imaginary += value * Math.sin(angle)
    }
    bands[band]! += (real * real + imaginary * imaginary) / size
  }
  return bands
}

/** Syllables of 20 frames weigh by their worst part (L6), the whole by L2, as P.862 does. */
const overTime = (values: readonly number[]): number => {
  const syllables: number[] = []
  for (let at = 0; at < values.length; at += 10) {
    const part = values.slice(at, at + 20)
    syllables.push((part.reduce((sum, value) => sum + value ** 6, 0) / part.length) ** (1 / 6))
  }
  const mean = syllables.reduce((sum, value) => sum + value ** 2, 0) / Math.max(1, syllables.length)
  return Math.sqrt(mean)
}

const correlationOf = (parts: readonly Part[]): number => {
  let [product, one, other] = [0, 1, 1]
  for (const { spoken, shifted } of parts)
    for (const [at, sample] of spoken.entries()) {
      product += sample * shifted[at]!
      one += sample ** 2
      other += shifted[at]! ** 2
    }
  return product / Math.sqrt(one * other)
}

const gapsOf = (parts: readonly Part[]): number => {
  let [frames, gaps] = [0, 0]
  for (const { spoken, shifted } of parts)
    for (let at = 0; at + gapFrame <= spoken.length; at += gapFrame) {
      if (energyIn(spoken, at) < 300 ** 2) continue
      frames += 1
      if (energyIn(shifted, at) < 30 ** 2) gaps += 1
    }
  return (1000 * gaps) / Math.max(1, frames)
}

const energyIn = (samples: Int16Array, from: number): number => {
  let sum = 0
  for (let at = from; at < from + gapFrame; at += 1) sum += samples[at]! ** 2
  return sum / gapFrame
}
