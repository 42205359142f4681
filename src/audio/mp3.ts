import { createMp3Encoder } from 'wasm-media-encoders'
import { mp3FrameBytes, mp3FrameSamples, mp3InfoFrame, planMp3 } from './mp3-info-frame.ts'

/** A chunk of both lanes, equally long: 16-bit samples at 8 kHz. */
export interface StereoChunk {
  readonly left: Int16Array
  readonly right: Int16Array
}

/**
 * Encodes a recording as MP3: 8 kHz, stereo, 32 kbit/s CBR (4 kB/s), 300 to 400 times as fast as real time, with
 * memory for one chunk at any length. It decodes to exactly `totalSamples` at their exact positions, because a
 * leading Info frame tells players how much of the codec's delay to cut. Missing samples are padded with silence.
 * Throws RangeError when the lanes differ in length or more than `totalSamples` arrive. It blocks, so run it in a
 * worker thread.
 */
export async function* encodeMp3(
  chunks: AsyncIterable<StereoChunk> | Iterable<StereoChunk>,
  totalSamples: number,
): AsyncGenerator<Uint8Array> {
  const plan = planMp3(totalSamples)
  const encoder = spare ?? (await createMp3Encoder())
  spare = undefined
  encoder.configure({ sampleRate: 8000, channels: 2, bitrate: 32 })
  let samples = 0
  let bytes = 0
  // The encoder returns a view into its memory, which the next call overwrites.
  const own = (encoded: Uint8Array): Uint8Array => {
    bytes += encoded.length
    return encoded.slice()
  }

  yield mp3InfoFrame(plan)
  for await (const chunk of chunks) {
    samples += chunk.left.length
    if (chunk.left.length !== chunk.right.length)
      throw new RangeError('The lanes differ in length.')
    if (samples > totalSamples) throw new RangeError(`More than ${totalSamples} samples came.`)
    yield own(encoder.encode([toFloats(chunk.left), toFloats(chunk.right)]))
  }
  for (const silence of silences(totalSamples - samples)) {
    yield own(encoder.encode([silence, silence]))
  }
  yield own(encoder.finalize())
  if (bytes !== plan.frames * mp3FrameBytes) {
    throw new Error(`The MP3 encoder made ${bytes} bytes where ${plan.frames} frames were planned.`)
  }
  spare = encoder
}

/** Its memory is 16 MB, so the next recording should reuse it; it is configured anew. */
let spare: Awaited<ReturnType<typeof createMp3Encoder>> | undefined

/** A loop, because `Float32Array.from` with a function takes more than a third of the encoder's whole time. */
const toFloats = (samples: Int16Array): Float32Array => {
  const floats = new Float32Array(samples.length)
  for (let at = 0; at < samples.length; at += 1) floats[at] = (samples[at] ?? 0) / 32_768
  return floats
}

function* silences(samples: number): Generator<Float32Array> {
  for (let left = samples; left > 0; left -= mp3FrameSamples) {
    yield new Float32Array(Math.min(left, mp3FrameSamples))
  }
}
