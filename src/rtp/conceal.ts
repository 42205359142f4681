import {
  decodeG711,
  encodeG711,
  g711FrameBytes,
  g711Silence,
  type G711Codec,
} from '../audio/g711.ts'

/**
 * Fills the gaps of lost packets: continues the last pitch period of the voice, fading out over 60 ms, then silence
 * (the way of ITU-T G.711 Appendix I). The first good frame is blended with what the voice would have been.
 */
export interface Concealer {
  /** Records a frame that arrived, and returns it; after a gap, its beginning is blended. */
  pass(frame: Uint8Array): Uint8Array
  /** A frame in place of a missing one. */
  conceal(): Uint8Array
  /** Concealed frames of speech; frames that were silent anyway do not count. */
  readonly concealed: number
}

const frameSamples = g711FrameBytes
/** Frames before the voice has faded out: 60 ms. */
const fadeFrames = 3
/** The pitch of voices: 66 to 200 Hz, in samples at 8 kHz; a higher one is found as its multiple. */
const shortestPeriod = 40
const longestPeriod = 120
const historySamples = 3 * frameSamples
/** The two pieces that are compared. */
const matchSamples = 160
/** Of the good frame after a gap, 5 ms. */
const blendSamples = 40

export const createConcealer = (codec: G711Codec): Concealer => {
  const silence = g711Silence(codec)
  const history = new Int16Array(historySamples)
  const samples = new Int16Array(frameSamples)
  let hasHistory = false
  let missing = 0
  let concealed = 0
  let period = 0
  /** Samples of the gap so far. */
  let position = 0

  const remember = (frame: Int16Array): void => {
    history.copyWithin(0, frameSamples)
    history.set(frame, historySamples - frameSamples)
  }

  /** The voice, had it gone on from the last good frame: its last period again and again. */
  const voiceAt = (at: number): number => history[historySamples - period + (at % period)]!
  const gainAt = (at: number): number =>
    Math.max(0, 1 - Math.max(0, at - blendSamples) / (fadeFrames * frameSamples - blendSamples))

  const blend = (frame: Uint8Array): Uint8Array => {
    decodeG711(codec, frame, samples)
    for (let at = 0; at < blendSamples; at++) {
      const share = at / blendSamples
      const voice = voiceAt(position + at) * gainAt(position + at)
      samples[at] = samples[at]! * share + voice * (1 - share)
    }
    const blended = encodeG711(codec, samples)
    const whole = Uint8Array.from(frame)
    whole.set(blended.subarray(0, blendSamples))
    return whole
  }

  return {
    pass(frame) {
      const heard = missing > 0 && hasHistory ? blend(frame) : frame
      missing = 0
      remember(decodeG711(codec, heard, samples))
      hasHistory = true
      return heard
    },
    conceal() {
      if (!hasHistory || missing >= fadeFrames) {
        hasHistory = false
        return silence
      }
      if (missing === 0) {
        period = pitchOf(history)
        position = 0
      }
      missing++
      concealed++
      for (let at = 0; at < frameSamples; at++)
        samples[at] = voiceAt(position + at) * gainAt(position + at)
      position += frameSamples
      return encodeG711(codec, samples)
    },
    get concealed() {
      return concealed
    },
  }
}

/** The lag at which the end of the history is most like itself, relative to the energy there. */
const pitchOf = (history: Int16Array): number => {
  const end = history.length
  const start = end - matchSamples
  let best = { lag: longestPeriod, likeness: -Infinity }
  for (let lag = shortestPeriod; lag <= longestPeriod; lag++) {
    let product = 0
    let energy = 1
    for (let at = start; at < end; at++) {
      const before = history[at - lag]!
      product += history[at]! * before
      energy += before * before
    }
    const likeness = product <= 0 ? 0 : (product * product) / energy
    if (likeness > best.likeness) best = { lag, likeness }
  }
  return best.lag
}
