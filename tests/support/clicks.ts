import { encodeG711, g711FrameBytes, g711Silence } from '../../src/audio/g711.ts'

/** Clicks: a sound of two milliseconds can be located to the millisecond after any codec. */

export const samplesPerMs = 8
export const frameMs = 20
const clickSamples = 2 * samplesPerMs
const clickLevel = 24_000

/** 20 ms of silence with a click that begins at this millisecond. */
export const clickFrame = (atMs: number): Uint8Array => {
  const samples = new Int16Array(g711FrameBytes)
  for (let index = 0; index < clickSamples; index += 1)
    samples[atMs * samplesPerMs + index] = index % 4 < 2 ? clickLevel : -clickLevel
  return encodeG711('pcmu', samples)
}

export const silentFrame = (): Uint8Array => g711Silence('pcmu')

/** Whether a frame of mu-law contains a click: no other byte is loud. */
export const holdsClick = (frame: Uint8Array): boolean => frame.some((byte) => (byte & 0x7f) < 0x20)

/** Louder than the encoder's spread around a click, or its copy in the other lane. */
const heardLevel = 6_000
const leastGapMs = 60

/** Where clicks begin, in milliseconds: the loudest sample of each, minus half a click. */
export const findClicks = (samples: Int16Array): number[] => {
  const found: number[] = []
  const gap = leastGapMs * samplesPerMs
  for (let at = 0; at < samples.length; at += 1) {
    if (Math.abs(samples[at] ?? 0) < heardLevel) continue
    let loudest = at
    const end = Math.min(samples.length, at + gap)
    for (let next = at; next < end; next += 1)
      if (Math.abs(samples[next] ?? 0) > Math.abs(samples[loudest] ?? 0)) loudest = next
    found.push((loudest - clickSamples / 2) / samplesPerMs)
    at += gap
  }
  return found
}
