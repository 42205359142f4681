/** Telephone tones as samples at 8 kHz, for DTMF, beeps and the tests of detectors. */

const sampleRateHz = 8000

/** A sine of `amplitude` (0 to 32767). The phase starts at zero. */
export const sine = (frequencyHz: number, durationMs: number, amplitude = 8000): Int16Array =>
  sumOfSines([frequencyHz], durationMs, amplitude)

/** Several sines at once, each of `amplitude`. */
export const sumOfSines = (
  frequenciesHz: readonly number[],
  durationMs: number,
  amplitude: number,
): Int16Array => {
  const steps = frequenciesHz.map((frequencyHz) => (2 * Math.PI * frequencyHz) / sampleRateHz)
  return Int16Array.from({ length: samplesIn(durationMs) }, (_, i) =>
    clamp(amplitude * steps.reduce((sum, step) => sum + Math.sin(step * i), 0)),
  )
}

export const silence = (durationMs: number): Int16Array => new Int16Array(samplesIn(durationMs))

export const joinSamples = (parts: readonly Int16Array[]): Int16Array => {
  const joined = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

const dtmfRows = ['123A', '456B', '789C', '*0#D']
const dtmfRowHz = [697, 770, 852, 941]
const dtmfColumnHz = [1209, 1336, 1477, 1633]

/** The two frequencies of a digit (ITU-T Q.23), `undefined` for other characters. */
export const dtmfFrequencies = (digit: string): readonly [number, number] | undefined => {
  if (digit.length !== 1) return undefined
  const row = dtmfRows.findIndex((keys) => keys.includes(digit.toUpperCase()))
  if (row < 0) return undefined
  return [dtmfRowHz[row]!, dtmfColumnHz[dtmfRows[row]!.indexOf(digit.toUpperCase())]!]
}

/** A digit as 100 ms of both its tones; `undefined` for other characters. */
export const dtmfTone = (digit: string, durationMs = 100): Int16Array | undefined => {
  const frequencies = dtmfFrequencies(digit)
  return frequencies && sumOfSines(frequencies, durationMs, 7000)
}

/** The tone after a voicemail greeting. */
export const beep = (durationMs = 500): Int16Array => sine(1000, durationMs, 10_000)

/** North American busy tone (ITU-T E.180): 480 + 620 Hz, half a second on, half a second off. */
export const busyTone = (cycles: number): Int16Array =>
  joinSamples(
    Array.from({ length: cycles }, () =>
      joinSamples([sumOfSines([480, 620], 500, 5000), silence(500)]),
    ),
  )

/** Special information tone (ITU-T E.180): three rising tones before "the number you have dialled …". */
export const specialInformationTone = (): Int16Array =>
  joinSamples([950, 1400, 1800].map((frequencyHz) => sine(frequencyHz, 330, 8000)))

const samplesIn = (durationMs: number): number => Math.round((durationMs * sampleRateHz) / 1000)

const clamp = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)))
