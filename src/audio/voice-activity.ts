import loadFvad, { type FvadModule } from '@echogarden/fvad-wasm'
import { pureToneHz } from './voice-activity-tone.ts'

/** Distinguishes speech from silence and line noise, 20 ms at a time. */
export interface VoiceActivityDetector {
  /**
   * Whether this frame of 160 samples (20 ms at 8 kHz) contains speech. Frames must come in order, because it
   * adapts to the noise.
   */
  isVoiced(frame: Int16Array): boolean
  /** Frees the detector's memory; safe twice. A closed detector hears no speech. */
  close(): void
}

export const voiceActivityFrameSamples = 160

const sampleRateHz = 8_000
// The strictest of four modes: modes 0 to 2 fired on the silence at the start of a call.
const strictestMode = 3
/** About -47 dBFS: quieter sound is never speech on a telephone line. */
const quietestSpeechRms = 150
/** Speech exceeds the line's noise by at least 8 dB. */
const speechToNoiseRatio = 2.5
/** A higher noise floor would hide speech. */
const loudestNoiseRms = 800
const floorAdaptation = 0.05
/** The level of speech falls by far more than 3.5 dB between syllables; hiss and fans never do. */
const steadyRatio = 1.5
/** The quietest frame of the last 0.8 to 1.6 seconds is remembered: in speech it is a pause. */
const steadyFrames = 40
/** The first 100 ms only teach the detector the line's noise, because at first it takes any noise for speech. */
const settlingFrames = 5

/**
 * WebRTC's detector in mode 3, and an energy gate above the line's own noise floor: both must agree. A pure tone (a
 * beep) is never speech, nor is continuous noise of one level, however loud. About 3 µs per frame. All detectors of
 * a thread share one WebAssembly instance; `close` returns their memory.
 */
export const createVoiceActivityDetector = async (): Promise<VoiceActivityDetector> => {
  const fvad = await sharedFvad()
  const handle = fvad._fvad_new()
  const frameAt = fvad._malloc(voiceActivityFrameSamples * Int16Array.BYTES_PER_ELEMENT)
  if (handle === 0 || frameAt === 0) throw new Error('No memory for a voice activity detector.')
  fvad._fvad_set_mode(handle, strictestMode)
  fvad._fvad_set_sample_rate(handle, sampleRateHz)
  let noiseRms = quietestSpeechRms / speechToNoiseRatio
  const calm = createCalmestFrame()
  let framesSeen = 0
  let isClosed = false

  return {
    isVoiced(frame) {
      if (isClosed) return false
      if (frame.length !== voiceActivityFrameSamples) {
        throw new RangeError(
          `A frame has ${voiceActivityFrameSamples} samples, not ${frame.length}.`,
        )
      }
      fvad.HEAP16.set(frame, frameAt >> 1)
      const soundsLikeSpeech = fvad._fvad_process(handle, frameAt, frame.length) === 1
      const rms = rootMeanSquare(frame)
      if (!soundsLikeSpeech) {
        noiseRms = Math.min(loudestNoiseRms, noiseRms + (rms - noiseRms) * floorAdaptation)
      }
      const calmest = calm.push(rms)
      framesSeen += 1
      if (!soundsLikeSpeech || framesSeen <= settlingFrames) return false
      if (rms < Math.max(quietestSpeechRms, noiseRms * speechToNoiseRatio)) return false
      if (rms < calmest * steadyRatio) return false
      return pureToneHz(frame) === undefined
    },
    close() {
      if (isClosed) return
      isClosed = true
      fvad._fvad_free(handle)
      fvad._free(frameAt)
    },
  }
}

let shared: Promise<FvadModule> | undefined

const sharedFvad = (): Promise<FvadModule> => (shared ??= loadFvad())

/** The lowest level of the last 0.8 to 1.6 seconds; 0 until that much has been heard. */
const createCalmestFrame = () => {
  let previous = 0
  let current = Infinity
  let frames = 0
  return {
    push(rms: number): number {
      current = Math.min(current, rms)
      frames += 1
      if (frames < steadyFrames) return Math.min(previous, current)
      frames = 0
      previous = current
      current = Infinity
      return previous
    },
  }
}

const rootMeanSquare = (samples: Int16Array): number => {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return Math.sqrt(sum / samples.length)
}
