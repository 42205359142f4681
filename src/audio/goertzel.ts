/**
 * Power of one frequency within the samples, on the scale of `energyOf`: a pure sine at that frequency gives its
 * whole energy.
 */
export const goertzelPower = (
  samples: Int16Array,
  frequencyHz: number,
  sampleRateHz = 8000,
): number => {
  if (samples.length === 0) return 0
  const step = (2 * Math.PI * frequencyHz) / sampleRateHz
  const coefficient = 2 * Math.cos(step)
  let last = 0
  let beforeLast = 0
  for (const sample of samples) {
    const next = sample + coefficient * last - beforeLast
    beforeLast = last
    last = next
  }
  const power = last * last + beforeLast * beforeLast - coefficient * last * beforeLast
  return (2 * power) / samples.length ** 2
}

const lowestHz = 380
const highestHz = 2200
const binHz = 25
/** Share of the energy that one frequency must have; a voice spreads its energy over harmonics. */
const purity = 0.7
const quietestEnergy = 200 ** 2

const sampleRateHz = 8000
const bins = Array.from(
  { length: (highestHz - lowestHz) / binHz + 1 },
  (_, i) => lowestHz + i * binHz,
)

/** The lag at which a frame is compared with itself, to reduce the frequencies to test. */
const lags = [1, 2, 3, 4, 6, 8, 10]
/**
 * If the share `purity` of a frame is one frequency, the frame correlates with itself, `lag` samples later, by
 * `purity` times that frequency's cosine; the rest can change that by 1 - `purity`. The last tenth allows for the
 * frame's cut ends.
 */
const tolerance = 1 - purity + 0.1
const likeness = lags.map((lag) =>
  Float64Array.from(bins, (hz) => purity * Math.cos((2 * Math.PI * hz * lag) / sampleRateHz)),
)

/**
 * The frequency (to 25 Hz, 380 to 2200) with most of a frame's energy; `undefined` for speech, noise and silence.
 */
export const pureFrequency = (frame: Int16Array): number | undefined => {
  const sum = similarity(frame, 0)
  const energy = sum / Math.max(1, frame.length)
  if (energy < quietestEnergy) return undefined
  const similarities = lags.map((lag) => similarity(frame, lag) / sum)
  let best = { frequencyHz: 0, energy: 0 }
  for (let bin = 0; bin < bins.length; bin++) {
    if (!isPossible(similarities, bin, frame.length)) continue
    const frequencyHz = bins[bin]!
    const inBin = goertzelPower(frame, frequencyHz)
    if (inBin > best.energy) best = { frequencyHz, energy: inBin }
  }
  return best.energy >= purity * energy ? best.frequencyHz : undefined
}

const isPossible = (similarities: readonly number[], bin: number, length: number): boolean => {
  for (let at = 0; at < lags.length; at++) {
    const expected = likeness[at]![bin]! * (1 - lags[at]! / length)
    if (Math.abs(similarities[at]! - expected) > tolerance) return false
  }
  return true
}

const similarity = (frame: Int16Array, lag: number): number => {
  let sum = 0
  for (let at = lag; at < frame.length; at++) sum += frame[at]! * frame[at - lag]!
  return sum
}
