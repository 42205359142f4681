import { frameMs } from '../../audio/frame.ts'
import {
  voiceActivityFrameSamples,
  type VoiceActivityDetector,
} from '../../audio/voice-activity.ts'
import { createSpeechSegmenter } from '../../audio/voice-activity-segmenter.ts'

/** Finds stretches of speech in the audio and keeps their samples. */
export interface SpeechEar {
  /** 20 ms (160 samples at 8 kHz). */
  hear(frame: Int16Array): HeardSpeech | undefined
  /** Speech has begun and not ended. */
  readonly isHearing: boolean
  /** Whether the last frame was voiced. */
  readonly isVoiced: boolean
  /** The speech so far, which has not ended. */
  soFar(): { readonly samples: Int16Array; readonly voicedMs: number }
}

type HeardSpeech =
  | { readonly kind: 'started'; readonly atMs: number }
  | {
      readonly kind: 'stopped'
      /** The time at which the silence after the speech had lasted long enough. */
      readonly atMs: number
      /** 8 kHz, with a little silence around it. */
      readonly samples: Int16Array
      readonly voicedMs: number
    }

/** Kept from before the first voiced frame: a soft consonant begins a word earlier than its vowel. */
const prefixFrames = 15
/** Half a minute; the rest of longer speech is dropped. */
const maxFrames = 1_500

export const createSpeechEar = (
  voiceActivity: VoiceActivityDetector,
  endSilenceMs: number,
): SpeechEar => {
  const segmenter = createSpeechSegmenter({ endSilenceMs })
  let kept: Int16Array[] = []
  let voicedMs = 0
  let isVoiced = false

  return {
    hear(frame) {
      isVoiced = voiceActivity.isVoiced(frame)
      const boundary = segmenter.push(isVoiced)
      if (isVoiced) voicedMs += frameMs
      else if (!segmenter.isSpeaking && !boundary) voicedMs = 0
      if (kept.length < maxFrames) kept.push(frame.slice())
      if (boundary?.kind === 'start') return { kind: 'started', atMs: boundary.atMs }
      if (boundary?.kind === 'stop') {
        const samples = join(kept)
        const stopped = {
          kind: 'stopped',
          atMs: boundary.atMs + endSilenceMs - (endSilenceMs % frameMs),
          samples,
          voicedMs,
        } as const
        kept = []
        voicedMs = 0
        return stopped
      }
      if (!segmenter.isSpeaking && kept.length > prefixFrames) kept.shift()
      return undefined
    },
    get isHearing() {
      return segmenter.isSpeaking
    },
    get isVoiced() {
      return isVoiced
    },
    soFar: () => ({ samples: join(kept), voicedMs }),
  }
}

const join = (frames: readonly Int16Array[]): Int16Array => {
  const samples = new Int16Array(frames.length * voiceActivityFrameSamples)
  for (const [index, frame] of frames.entries())
    samples.set(frame, index * voiceActivityFrameSamples)
  return samples
}
