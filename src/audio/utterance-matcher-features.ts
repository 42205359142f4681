/** One row of `featuresPerFrame` numbers for each 20 ms of an utterance, without the silence at both ends. */
export interface UtteranceFeatures {
  readonly rows: Float32Array
  readonly frameCount: number
}

export const featuresPerFrame = 10

const sampleRateHz = 8_000
const hopSamples = 160
const windowSamples = 256
const bandCount = 16
const lowestBandHz = 150
const highestBandHz = 3_500
/** About -47 dBFS: quieter sound at the ends is line noise. */
const quietestRms = 150
/** Energies are relative to the utterance's own loudness; anything below -30 dB of it is noise. */
const relativeFloor = 0.001
const loudnessPercentile = 0.9
const quietPercentile = 0.1
const energyWeight = 1.5

/**
 * Mel cepstra of 32 ms windows every 20 ms, relative to the utterance's loudness and mean, so that the line's gain
 * and noise floor do not matter. Empty when nothing in the samples (8 kHz) is loud enough to be speech.
 */
export const extractFeatures = (samples: Int16Array): UtteranceFeatures => {
  const spoken = trimSilence(samples)
  const frameCount = Math.max(0, Math.floor((spoken.length - windowSamples) / hopSamples) + 1)
  const bands = new Float32Array(frameCount * bandCount)
  for (let frame = 0; frame < frameCount; frame += 1) {
    const start = frame * hopSamples
    bandEnergies(spoken.subarray(start, start + windowSamples), bands, frame * bandCount)
  }
  return { rows: toCepstra(bands, frameCount), frameCount }
}

/** Cuts off ends no louder than the line's noise, judged by the utterance's quietest and loudest frames. */
const trimSilence = (samples: Int16Array): Int16Array => {
  const levels = frameLevels(samples)
  const sorted = levels.toSorted()
  const quiet = sorted[Math.floor(sorted.length * quietPercentile)] ?? 0
  const loud = sorted[Math.floor(sorted.length * loudnessPercentile)] ?? 0
  const threshold = Math.max(quietestRms, Math.min(quiet * 2, loud * 0.2))
  const first = levels.findIndex((level) => level >= threshold)
  if (first < 0) return samples.subarray(0, 0)
  const last = levels.findLastIndex((level) => level >= threshold)
  return samples.subarray(first * hopSamples, (last + 1) * hopSamples)
}

const frameLevels = (samples: Int16Array): Float64Array =>
  Float64Array.from({ length: Math.floor(samples.length / hopSamples) }, (_, frame) => {
    let sum = 0
    for (const sample of samples.subarray(frame * hopSamples, (frame + 1) * hopSamples)) {
      sum += sample * sample
    }
    return Math.sqrt(sum / hopSamples)
  })

const hannWindow = Float64Array.from(
  { length: windowSamples },
  (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / (windowSamples - 1)),
)

const toMel = (hertz: number): number => 1127 * Math.log(1 + hertz / 700)
const fromMel = (mel: number): number => 700 * (Math.exp(mel / 1127) - 1)

/** For each band, the weight of each bin of the spectrum: triangles of equal width on the mel scale. */
const bandWeights: readonly Float64Array[] = Array.from({ length: bandCount }, (_, band) => {
  const edges = [band, band + 1, band + 2].map((edge) => {
    const low = toMel(lowestBandHz)
    return fromMel(low + ((toMel(highestBandHz) - low) * edge) / (bandCount + 1))
  }) as [number, number, number]
  return Float64Array.from({ length: windowSamples / 2 }, (__, bin) => {
    const hertz = (bin * sampleRateHz) / windowSamples
    const rising = (hertz - edges[0]) / (edges[1] - edges[0])
    const falling = (edges[2] - hertz) / (edges[2] - edges[1])
    return Math.max(0, Math.min(rising, falling))
  })
})

const real = new Float64Array(windowSamples)
const imaginary = new Float64Array(windowSamples)

const bandEnergies = (window: Int16Array, out: Float32Array, outAt: number): void => {
  for (let at = 0; at < windowSamples; at += 1) real[at] = (window[at] ?? 0) * hannWindow[at]!
  imaginary.fill(0)
  fourierTransform(real, imaginary)
  for (const [band, weights] of bandWeights.entries()) {
    let energy = 0
    for (let bin = 1; bin < weights.length; bin += 1) {
      if (weights[bin] !== 0) energy += weights[bin]! * (real[bin]! ** 2 + imaginary[bin]! ** 2)
    }
    out[outAt + band] = energy
  }
}

/** In place, radix 2 (Cooley and Tukey); the length is a power of two. */
const fourierTransform = (re: Float64Array, im: Float64Array): void => {
  const length = re.length
  for (let at = 1, mirrored = 0; at < length; at += 1) {
    let bit = length >> 1
    for (; mirrored & bit; bit >>= 1) mirrored ^= bit
    mirrored ^= bit
    if (at < mirrored) {
      ;[re[at], re[mirrored]] = [re[mirrored]!, re[at]!]
      ;[im[at], im[mirrored]] = [im[mirrored]!, im[at]!]
    }
  }
  for (let size = 2; size <= length; size <<= 1) {
    const half = size >> 1
    for (let index = 0; index < half; index += 1) {
      const twiddleReal = cosines[(index * length) / size]!
      const twiddleImaginary = -sines[(index * length) / size]!
      for (let top = index; top < length; top += size) {
        const bottom = top + half
        const re2 = re[bottom]! * twiddleReal - im[bottom]! * twiddleImaginary
        const im2 = re[bottom]! * twiddleImaginary + im[bottom]! * twiddleReal
        re[bottom] = re[top]! - re2
        im[bottom] = im[top]! - im2
        re[top] = re[top]! + re2
        im[top] = im[top]! + im2
      }
    }
  }
}

const angle = (2 * Math.PI) / windowSamples
const cosines = Float64Array.from({ length: windowSamples / 2 }, (_, at) => Math.cos(angle * at))
const sines = Float64Array.from({ length: windowSamples / 2 }, (_, at) => Math.sin(angle * at))

/** Cosine transform of the log band energies: coefficients 1 to 9, and the frame's loudness as the last feature. */
const cosineBasis: readonly Float64Array[] = Array.from(
  { length: featuresPerFrame - 1 },
  (_, order) =>
    Float64Array.from({ length: bandCount }, (__, band) =>
      Math.cos((Math.PI * (order + 1) * (band + 0.5)) / bandCount),
    ),
)

const toCepstra = (bands: Float32Array, frameCount: number): Float32Array => {
  const reference = referenceLoudness(bands, frameCount)
  const rows = new Float32Array(frameCount * featuresPerFrame)
  const logs = new Float64Array(bandCount)
  for (let frame = 0; frame < frameCount; frame += 1) {
    let loudness = 0
    for (let band = 0; band < bandCount; band += 1) {
      logs[band] = Math.log(bands[frame * bandCount + band]! / reference + relativeFloor)
      loudness += logs[band]! / bandCount
    }
    const rowAt = frame * featuresPerFrame
    for (const [order, basis] of cosineBasis.entries()) {
      let sum = 0
      for (let band = 0; band < bandCount; band += 1) sum += basis[band]! * logs[band]!
      rows[rowAt + order] = sum / Math.sqrt(bandCount)
    }
    rows[rowAt + featuresPerFrame - 1] = loudness * energyWeight
  }
  return rows
}

/** The band energy that the loudest band of one in ten frames exceeds. */
const referenceLoudness = (bands: Float32Array, frameCount: number): number => {
  const loudest: number[] = []
  for (let frame = 0; frame < frameCount; frame += 1) {
    loudest.push(Math.max(...bands.subarray(frame * bandCount, (frame + 1) * bandCount)))
  }
  loudest.sort((one, other) => one - other)
  return Math.max(1, loudest[Math.floor(loudest.length * loudnessPercentile)] ?? 1)
}
