import { encodeG711, g711FrameBytes, g711Silence } from '../../src/audio/g711.ts'

/** Clicks: what is heard for two milliseconds can be placed to the millisecond, whatever codec it went through. */

export const samplesPerMs = 8
export const frameMs = 20
const clickSamples = 2 * samplesPerMs
const clickLevel = 24_000

/** 20 ms of silence with a click that begins so many milliseconds into it. */
export const clickFrame = (atMs: number): Uint8Array => {
  const samples = new Int16Array(g711FrameBytes)
  for (let index = 0; index < clickSamples; index += 1)
    samples[atMs * samplesPerMs + index] = index % 4 < 2 ? clickLevel : -clickLevel
  return encodeG711('pcmu', samples)
}

export const silentFrame = (): Uint8Array => g711Silence('pcmu')

/** Whether a frame of mu-law holds a click: none of its bytes is loud otherwise. */
export const holdsClick = (frame: Uint8Array): boolean => frame.some((byte) => (byte & 0x7f) < 0x20)

/** Louder than what the encoder spreads around a click, or makes of the other lane's. */
const heardLevel = 6_000
const leastGapMs = 60

/** Where clicks begin, in milliseconds: the loudest sample of each, less half a click. */
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
