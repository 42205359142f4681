import { decodeG711, encodeG711, type G711Codec } from '../../../../src/audio/g711.ts'

/**
 * Words as tones: the pitch tells which words they are, so that a wrong format or sample rate makes them
 * unintelligible. No pitch is another's times 1.5 or 3, the ratios of the rates in use.
 */
const pitchesHz = [500, 640, 820, 1_040] as const
const tolerance = 0.05
const amplitude = 9_000
/** Longer than what any server takes for noise. */
const toneMs = 700

/** The samples of word number `index`. */
export const toneSamples = (index: number, rateHz: number, ms = toneMs): Int16Array => {
  const pitchHz = pitchesHz[index] ?? pitchesHz[0]
  return Int16Array.from({ length: (rateHz * ms) / 1_000 }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * pitchHz * at) / rateHz)),
  )
}

/** What a callee says, on the line. */
export const toneG711 = (index: number, codec: G711Codec): Uint8Array =>
  encodeG711(codec, toneSamples(index, 8_000))

/** The number of the word that is heard, or undefined for noise. */
export const toneIn = (samples: Int16Array, rateHz: number): number | undefined => {
  let crossings = 0
  let first = -1
  let last = -1
  for (let at = 1; at < samples.length; at += 1) {
    const [before = 0, now = 0] = [samples[at - 1], samples[at]]
    if (!(before < 0 && now >= 0)) continue
    if (first < 0) first = at
    last = at
    crossings += 1
  }
  if (crossings < 10) return undefined
  const heardHz = ((crossings - 1) * rateHz) / (last - first)
  const found = pitchesHz.findIndex((pitchHz) => Math.abs(heardHz / pitchHz - 1) < tolerance)
  return found < 0 ? undefined : found
}

/** The number of the word in the line's audio. */
export const toneInG711 = (g711: Uint8Array, codec: G711Codec): number | undefined =>
  toneIn(decodeG711(codec, g711), 8_000)
