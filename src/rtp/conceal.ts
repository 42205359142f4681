import {
  decodeG711,
  encodeG711,
  g711FrameBytes,
  g711Silence,
  type G711Codec,
} from '../audio/g711.ts'

/** Fills the gaps of lost packets: the last 20 ms again, fading out over three frames, then silence. */
export interface Concealer {
  /** Records a frame that arrived, and returns it. */
  pass(frame: Uint8Array): Uint8Array
  /** A frame in place of a missing one. */
  conceal(): Uint8Array
  /** Concealed frames of speech; frames that were silent anyway do not count. */
  readonly concealed: number
}

const gains = [0.8, 0.5, 0.2]

export const createConcealer = (codec: G711Codec): Concealer => {
  const silence = g711Silence(codec)
  const samples = new Int16Array(g711FrameBytes)
  let last: Uint8Array | undefined
  let missing = 0
  let concealed = 0

  const fade = (frame: Uint8Array, from: number, to: number): Uint8Array => {
    decodeG711(codec, frame, samples)
    for (let i = 0; i < samples.length; i++) {
      samples[i] = samples[i]! * (from + ((to - from) * i) / samples.length)
    }
    return encodeG711(codec, samples)
  }

  return {
    pass(frame) {
      last = frame
      missing = 0
      return frame
    },
    conceal() {
      const gain = gains[missing]
      if (last === undefined || gain === undefined) return silence
      concealed++
      missing++
      return fade(last, gain, gains[missing] ?? 0)
    },
    get concealed() {
      return concealed
    },
  }
}
