import { frameMs } from './frame.ts'

/** Joins voiced frames into stretches of speech. */
interface SpeechSegmenter {
  /** Takes the verdict on the next 20 ms frame and reports when speech has begun or ended. */
  push(isVoiced: boolean): SpeechBoundary | undefined
  readonly isSpeaking: boolean
}

export interface SpeechBoundary {
  readonly kind: 'start' | 'stop'
  /** `start`: where the first voiced frame began; `stop`: where the last voiced one ended. Frames pushed × 20. */
  readonly atMs: number
}

interface SegmenterOptions {
  /** Voiced frames in a row that make a start of speech; 3 (60 ms). */
  readonly onsetFrames?: number
  /** Silence after which the speech has ended; 500. */
  readonly endSilenceMs?: number
}

/** Speech begins with `onsetFrames` voiced frames in a row and ends with `endSilenceMs` of silence. */
export const createSpeechSegmenter = ({
  onsetFrames = 3,
  endSilenceMs = 500,
}: SegmenterOptions = {}): SpeechSegmenter => {
  let nowMs = 0
  let voicedRun = 0
  let lastVoicedEndMs = 0
  let isSpeaking = false

  const push = (isVoiced: boolean): SpeechBoundary | undefined => {
    nowMs += frameMs
    voicedRun = isVoiced ? voicedRun + 1 : 0
    if (isVoiced) lastVoicedEndMs = nowMs
    if (!isSpeaking && voicedRun >= onsetFrames) {
      isSpeaking = true
      return { kind: 'start', atMs: nowMs - voicedRun * frameMs }
    }
    if (isSpeaking && nowMs - lastVoicedEndMs >= endSilenceMs) {
      isSpeaking = false
      return { kind: 'stop', atMs: lastVoicedEndMs }
    }
    return undefined
  }

  return {
    push,
    get isSpeaking() {
      return isSpeaking
    },
  }
}
