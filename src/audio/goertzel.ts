/** Power of one frequency within the samples, on the scale of `energyOf`: a pure sine there gives its whole energy. */
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
/** Share of the energy that one frequency must hold; voices spread theirs over harmonics. */
const purity = 0.7
const quietestEnergy = 200 ** 2

const bins = Array.from(
  { length: (highestHz - lowestHz) / binHz + 1 },
  (_, i) => lowestHz + i * binHz,
)

/** The frequency (to 25 Hz, 380 to 2200) that holds most of a frame's energy, `undefined` for speech, noise and silence. */
export const pureFrequency = (frame: Int16Array): number | undefined => {
  let energy = 0
  for (const sample of frame) energy += sample * sample
  energy /= Math.max(1, frame.length)
  if (energy < quietestEnergy) return undefined
  let best = { frequencyHz: 0, energy: 0 }
  for (const frequencyHz of bins) {
    const inBin = goertzelPower(frame, frequencyHz)
    if (inBin > best.energy) best = { frequencyHz, energy: inBin }
  }
  return best.energy >= purity * energy ? best.frequencyHz : undefined
}
