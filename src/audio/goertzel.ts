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

/** Reports tones of a voicemail beep's kind as frames pass by. */
export interface BeepDetector {
  /** Takes the next 160 samples at 8 kHz; `true` once per beep, when it has ended. */
  push(frame: Int16Array): boolean
}

const lowestHz = 380
const highestHz = 2200
const binHz = 25
/** Share of the energy that one frequency must hold; voices spread theirs over harmonics. */
const purity = 0.7
const quietestEnergy = 200 ** 2
const minBeepFrames = 6
const maxBeepFrames = 100
/** A beep keeps its pitch; a singing vowel slides. */
const maxDriftHz = 50

const bins = Array.from(
  { length: (highestHz - lowestHz) / binHz + 1 },
  (_, i) => lowestHz + i * binHz,
)

/** A steady pure tone between 380 and 2200 Hz that lasts 120 to 2000 ms and stops. Ringing and busy tones are double. */
export const createBeepDetector = (): BeepDetector => {
  let tone: { frequencyHz: number; frames: number } | undefined

  return {
    push(frame) {
      const frequencyHz = pureFrequency(frame)
      if (
        tone &&
        frequencyHz !== undefined &&
        Math.abs(frequencyHz - tone.frequencyHz) <= maxDriftHz
      ) {
        tone.frames++
        return false
      }
      const ended = tone
      tone = frequencyHz === undefined ? undefined : { frequencyHz, frames: 1 }
      return ended !== undefined && ended.frames >= minBeepFrames && ended.frames <= maxBeepFrames
    },
  }
}

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
