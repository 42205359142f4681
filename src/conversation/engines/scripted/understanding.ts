import type { Synthesizer } from '../../../audio/flite.ts'
import { createUtteranceMatcher } from '../../../audio/utterance-matcher.ts'
import { unrecognisedText } from '../../../call-text/unrecognised-text.ts'
import { splitSentences } from './sentences.ts'

/** What the scripted model understands in its audio. */
export interface Understanding {
  /** The words in this stretch of speech (8 kHz); `[unrecognised]` for what is not in the vocabulary. */
  understand(samples: Int16Array): string
}

const calleeVoice = 'kal'
const windowSamples = 160
/** Between two sentences there are at least 100 ms of silence. */
const leastPauseWindows = 5
/** About -40 dBFS. */
const pauseRms = 330
/** A stretch is halved at most this often: sixteen sentences. */
const maxCuts = 4

/**
 * Knows the lines of the vocabulary, their single sentences, and any sequence of them, as the
 * sandbox's callees speak them. Its only input is the audio; the callee's script does not reach the
 * agent in any other way.
 */
export const createUnderstanding = (
  vocabulary: readonly string[],
  synthesizer: Synthesizer,
): Understanding => {
  const texts = new Set(vocabulary.flatMap((line) => [line, ...splitSentences(line)]))
  const matcher = createUtteranceMatcher(
    [...texts].map((text) => ({
      text,
      samples: synthesizer.synthesize(text, calleeVoice).samples,
    })),
  )

  const recognise = (samples: Int16Array, cutsLeft: number): string[] => {
    const match = matcher.match(samples)
    if (match) return [match.text]
    const pauseAt = cutsLeft > 0 ? longestPause(samples) : undefined
    if (pauseAt === undefined) return [unrecognisedText]
    return [
      ...recognise(samples.subarray(0, pauseAt), cutsLeft - 1),
      ...recognise(samples.subarray(pauseAt), cutsLeft - 1),
    ]
  }

  return {
    understand(samples) {
      const parts = recognise(samples, maxCuts)
      return parts.every((part) => part === unrecognisedText) ? unrecognisedText : parts.join(' ')
    },
  }
}

/** The middle of the longest silence within the speech; undefined without one. */
const longestPause = (samples: Int16Array): number | undefined => {
  const windows = Math.floor(samples.length / windowSamples)
  const isQuiet = (window: number): boolean => {
    let sum = 0
    const start = window * windowSamples
    for (const sample of samples.subarray(start, start + windowSamples)) sum += sample * sample
    return sum < pauseRms ** 2 * windowSamples
  }
  let firstLoud = 0
  let lastLoud = windows - 1
  while (firstLoud < windows && isQuiet(firstLoud)) firstLoud += 1
  while (lastLoud > firstLoud && isQuiet(lastLoud)) lastLoud -= 1
  let best = { length: leastPauseWindows - 1, middle: -1 }
  let length = 0
  for (let window = firstLoud; window <= lastLoud; window += 1) {
    length = isQuiet(window) ? length + 1 : 0
    if (length > best.length) best = { length, middle: window - Math.floor(length / 2) }
  }
  return best.middle < 0 ? undefined : best.middle * windowSamples
}
