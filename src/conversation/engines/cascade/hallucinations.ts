import { cutEnd } from '../../engine/cut-end.ts'

/** How much speech there was, and how sure the model was of it, where it reports that. */
export interface Certainty {
  readonly voicedMs: number
  readonly noSpeechProbability: number | undefined
  readonly meanLogProbability: number | undefined
}

/** What Whisper and its relatives write for breath, clicks and line noise: the ends of the videos they learnt from. */
const inventions = new Set([
  'thank you',
  'thank you very much',
  'thanks',
  'thanks for watching',
  'thank you for watching',
  'thank you so much for watching',
  'please subscribe',
  'you',
  'bye',
  'bye bye',
  'subtitles by the amara.org community',
  'untertitel im auftrag des zdf für funk 2017',
  'untertitel der amara.org-community',
  'sous-titres réalisés par la communauté d’amara.org',
  'subtítulos realizados por la comunidad de amara.org',
])

/** Whisper's own measure of silence. */
const silentProbability = 0.6
const unsureLogProbability = -1
/** Even "thank you" takes longer than this. */
const leastVoicedMs = 240
/** The words of a video's end are doubted already here when the model is not sure that anybody spoke. */
const doubtfulProbability = 0.3

/** Whether the transcriber made the words up out of silence or noise. */
export const isHallucination = (text: string, certainty: Certainty): boolean => {
  const { voicedMs, noSpeechProbability = 0, meanLogProbability = 0 } = certainty
  const words = cutEnd(text.toLowerCase(), /[\s.!?,…]/u).trim()
  if (!/[\p{L}\p{N}]/u.test(words)) return true
  if (noSpeechProbability > silentProbability && meanLogProbability < unsureLogProbability)
    return true
  if (!inventions.has(words)) return false
  return voicedMs < leastVoicedMs || noSpeechProbability > doubtfulProbability
}
