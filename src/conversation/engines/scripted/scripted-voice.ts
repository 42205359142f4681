import type { FliteVoice, SynthesizedSpeech } from '../../../audio/flite-speech.ts'
import type { Synthesizer } from '../../../audio/flite.ts'
import { encodeG711 } from '../../../audio/g711.ts'
import { resample } from '../../../audio/resample.ts'
import type { G711Codec } from '../../../audio/g711.ts'
import { splitSentences } from './sentences.ts'

/** One sentence of a reply, as words and as G.711. */
export interface SpokenSentence {
  readonly text: string
  readonly g711: Uint8Array
}

/** The same samples before coding, at 8 kHz. */
export interface SampledSentence {
  readonly text: string
  readonly samples: Int16Array
}

const voices: readonly FliteVoice[] = ['slt', 'awb', 'rms', 'kal16', 'kal']
/** Of a session that names none of them. */
export const defaultVoice: FliteVoice = 'slt'
const lineRateHz = 8_000
/**
 * 180 ms after each sentence instead of Flite's own pause, because a longer silence reads as the
 * end of the turn.
 */
const pauseSamples = 1_440
/** About -46 dBFS. */
const silentLevel = 160

/**
 * Speaks sentence by sentence, so that the first is heard while the second is being synthesized.
 * Blocks for some ten milliseconds per sentence that is not in the synthesizer's cache.
 * @param voice a Flite voice; any other name speaks as `slt`
 */
export const sampleSentences = function* (
  text: string,
  voice: string | undefined,
  synthesizer: Synthesizer,
): Generator<SampledSentence> {
  const chosen = voices.find((name) => name === voice) ?? defaultVoice
  for (const sentence of splitSentences(text)) {
    yield { text: sentence, samples: forTheLine(synthesizer.synthesize(sentence, chosen)) }
  }
}

/**
 * Resampling costs as much as everything else together, so its results are cached with the
 * synthesizer's.
 */
const lineSamples = new WeakMap<Int16Array, Int16Array>()

const forTheLine = ({ samples, sampleRateHz }: SynthesizedSpeech): Int16Array => {
  const known = lineSamples.get(samples)
  if (known) return known
  const spoken = trimSilence(resample(samples, sampleRateHz, lineRateHz))
  const padded = new Int16Array(spoken.length + pauseSamples)
  padded.set(spoken)
  lineSamples.set(samples, padded)
  return padded
}

/** The same as G.711. */
export const speakSentences = function* (
  text: string,
  voice: string | undefined,
  codec: G711Codec,
  synthesizer: Synthesizer,
): Generator<SpokenSentence> {
  for (const { text: sentence, samples } of sampleSentences(text, voice, synthesizer)) {
    yield { text: sentence, g711: encodeG711(codec, samples) }
  }
}

const trimSilence = (samples: Int16Array): Int16Array => {
  const isLoud = (sample: number): boolean => Math.abs(sample) > silentLevel
  const first = samples.findIndex(isLoud)
  return first < 0 ? samples : samples.subarray(first, samples.findLastIndex(isLoud) + 1)
}
