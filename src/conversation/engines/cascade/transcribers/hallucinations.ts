import { cutEnd } from '../../../engine/cut-end.ts'

/** The duration of the speech, and the model's confidence where it reports one. */
interface Certainty {
  readonly voicedMs: number
  readonly noSpeechProbability: number | undefined
  readonly meanLogProbability: number | undefined
}

/** What Whisper and similar models write for breath, clicks and line noise: the ends of their training videos. */
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
/** For these phrases a lower threshold applies when the model doubts that there was speech. */
const doubtfulProbability = 0.3

/** Whether the transcriber invented the words from silence or noise. */
export const isHallucination = (text: string, certainty: Certainty): boolean => {
  const { voicedMs, noSpeechProbability = 0, meanLogProbability = 0 } = certainty
  const words = cutEnd(text.toLowerCase(), /[\s.!?,…]/u).trim()
  if (!/[\p{L}\p{N}]/u.test(words)) return true
  if (noSpeechProbability > silentProbability && meanLogProbability < unsureLogProbability)
    return true
  if (!inventions.has(words)) return false
  return voicedMs < leastVoicedMs || noSpeechProbability > doubtfulProbability
}
