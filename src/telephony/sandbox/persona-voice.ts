import { createSynthesizer } from '../../audio/flite.ts'
import { resample } from '../../audio/resample.ts'
import type { SpeakLine } from './persona-talk.ts'

/**
 * Every line of the vocabulary, spoken in advance by Flite's `kal` and kept as 8 kHz samples (under 1 MB), so
 * that no synthesis runs during live calls. Those of the personas are recorded; other lines take a third of a second.
 */
export const createPersonaVoice = (vocabulary: readonly string[]): SpeakLine => {
  const synthesizer = createSynthesizer({ cacheBytes: 0 })
  const clips = new Map(
    vocabulary.map((line) => {
      const { samples, sampleRateHz } = synthesizer.synthesize(line, 'kal')
      return [line, resample(samples, sampleRateHz, 8000)]
    }),
  )
  return (line) => {
    const clip = clips.get(line)
    if (!clip) throw new Error(`No persona says "${line}".`)
    return clip
  }
}
