import {
  voiceActivityFrameSamples,
  type VoiceActivityDetector,
} from '../../../audio/voice-activity.ts'
import { createSpeechSegmenter } from '../../../audio/voice-activity-segmenter.ts'

/** The scripted model's ear: finds the stretches of speech in what it hears and keeps their sound. */
export interface ScriptedEar {
  /** 20 ms (160 samples at 8 kHz). */
  hear(frame: Int16Array): HeardSpeech | undefined
}

export type HeardSpeech =
  | { readonly kind: 'started'; readonly atMs: number }
  | { readonly kind: 'stopped'; readonly atMs: number; readonly samples: Int16Array }

const frameMs = 20
/** Kept from before the first voiced frame: a soft consonant begins a word earlier than its vowel. */
const prefixFrames = 15
/** Half a minute; what is beyond of an endless speech is not kept. */
const maxFrames = 1_500

export const createScriptedEar = (
  voiceActivity: VoiceActivityDetector,
  endSilenceMs: number,
): ScriptedEar => {
  const segmenter = createSpeechSegmenter({ endSilenceMs })
  let kept: Int16Array[] = []

  return {
    hear(frame) {
      const boundary = segmenter.push(voiceActivity.isVoiced(frame))
      if (kept.length < maxFrames) kept.push(frame.slice())
      if (boundary?.kind === 'start') return { kind: 'started', atMs: boundary.atMs }
      if (boundary?.kind === 'stop') {
        const samples = join(kept)
        kept = []
        return {
          kind: 'stopped',
          atMs: boundary.atMs + endSilenceMs - (endSilenceMs % frameMs),
          samples,
        }
      }
      if (!segmenter.isSpeaking && kept.length > prefixFrames) kept.shift()
      return undefined
    },
  }
}

const join = (frames: readonly Int16Array[]): Int16Array => {
  const samples = new Int16Array(frames.length * voiceActivityFrameSamples)
  for (const [index, frame] of frames.entries())
    samples.set(frame, index * voiceActivityFrameSamples)
  return samples
}
