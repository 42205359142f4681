/** The sum of two signals, clipped at full scale; the shorter one is silent beyond its end. */
export const mixSamples = (one: Int16Array, other: Int16Array): Int16Array =>
  Int16Array.from({ length: Math.max(one.length, other.length) }, (_, i) =>
    clip((one[i] ?? 0) + (other[i] ?? 0)),
  )

/** Louder or quieter, clipped at full scale. */
export const scaleSamples = (samples: Int16Array, gain: number): Int16Array =>
  samples.map((sample) => clip(Math.round(sample * gain)))

/** Two lanes as left, right, left, right …; both must be equally long. */
export const interleave = <Lane extends Int16Array | Uint8Array>(left: Lane, right: Lane): Lane => {
  if (left.length !== right.length) throw new RangeError('The lanes differ in length.')
  const both = new (left.constructor as new (length: number) => Lane)(2 * left.length)
  for (let i = 0; i < left.length; i++) {
    both[2 * i] = left[i]!
    both[2 * i + 1] = right[i]!
  }
  return both
}

/** The opposite of `interleave`; an odd last sample is left out. */
export const deinterleave = <Lane extends Int16Array | Uint8Array>(
  both: Lane,
): { left: Lane; right: Lane } => {
  const lane = () =>
    new (both.constructor as new (length: number) => Lane)(Math.floor(both.length / 2))
  const [left, right] = [lane(), lane()]
  for (let i = 0; i < left.length; i++) {
    left[i] = both[2 * i]!
    right[i] = both[2 * i + 1]!
  }
  return { left, right }
}

const clip = (value: number): number => Math.max(-32_768, Math.min(32_767, value))
