/** Mean square of the samples, 0 to 2^30; 0 for none. */
export const energyOf = (samples: Int16Array): number => {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return samples.length === 0 ? 0 : sum / samples.length
}

/**
 * Level relative to a full-scale square wave: 0 is the loudest, a full-scale sine is -3; -Infinity for digital
 * silence.
 */
export const dbfsOf = (samples: Int16Array): number =>
  10 * Math.log10(energyOf(samples) / fullScaleEnergy)

/** Loudest sample, 0 to 32768. */
export const peakOf = (samples: Int16Array): number => {
  let peak = 0
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample))
  return peak
}

const fullScaleEnergy = 32_768 ** 2
