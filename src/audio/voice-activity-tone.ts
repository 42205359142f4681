const sampleRateHz = 8_000
const lowestToneHz = 300
const highestToneHz = 3_000
/** About -43 dBFS. */
const quietestToneRms = 230
/**
 * The share of the frame's energy that must be in the tone. Speech and two simultaneous tones leave more outside
 * it.
 */
const leastPurity = 0.93

/**
 * The frequency in hertz, if the frame (8 kHz) is one pure tone between 300 and 3,000 Hz, such as a voicemail's
 * beep. A sampled sine obeys x[n+1] + x[n-1] = 2 cos(ω) x[n]; the best-fitting factor gives ω. Then nearly all
 * energy must be at ω (Goertzel's recurrence).
 */
export const pureToneHz = (frame: Int16Array): number | undefined => {
  let product = 0
  let energy = 0
  for (let at = 1; at + 1 < frame.length; at += 1) {
    const sample = frame[at] ?? 0
    product += ((frame[at - 1] ?? 0) + (frame[at + 1] ?? 0)) * sample
    energy += sample * sample
  }
  if (energy < quietestToneRms ** 2 * frame.length) return undefined
  const factor = product / energy
  if (factor >= greatestFactor || factor <= leastFactor) return undefined
  if (toneEnergy(frame, factor) < leastPurity * energy) return undefined
  return (Math.acos(factor / 2) * sampleRateHz) / (2 * Math.PI)
}

const factorAt = (hertz: number): number => 2 * Math.cos((2 * Math.PI * hertz) / sampleRateHz)
const greatestFactor = factorAt(lowestToneHz)
const leastFactor = factorAt(highestToneHz)

const toneEnergy = (frame: Int16Array, factor: number): number => {
  let previous = 0
  let beforePrevious = 0
  for (const sample of frame) {
    const next = sample + factor * previous - beforePrevious
    beforePrevious = previous
    previous = next
  }
  const power = previous ** 2 + beforePrevious ** 2 - factor * previous * beforePrevious
  return (2 * power) / frame.length
}
