import { BoundedMap } from '../../../runtime/bounded-map.ts'
import type { ProtocolError } from './protocol.ts'

/** What an operator or an agent asks of a server beyond the usual. Each server has some of it. */
export interface SessionTuning {
  /** How the end of the callee's turn is found; `server_vad`, by silence, if omitted. */
  readonly turnDetection?: 'server_vad' | 'semantic_vad'
  /** How soon `semantic_vad` takes a turn for finished. */
  readonly eagerness?: 'low' | 'medium' | 'high' | 'auto'
  readonly noiseReduction?: 'near_field' | 'far_field'
  /** Of the agent's speech; 1 is usual. */
  readonly speed?: number
  readonly reasoningEffort?: string
  /** Names and terms that the transcriber would otherwise miss. */
  readonly keywords?: readonly string[]
}

/** A part of the settings without which a server still holds the call. */
export type TuningMember =
  'keywords' | 'noise_reduction' | 'speed' | 'reasoning' | 'turn_detection' | 'transcription'

/** How a refusal names them. */
const namedBy: Readonly<Record<TuningMember, RegExp>> = {
  keywords: /keywords|keyterms/i,
  noise_reduction: /noise_?reduction|noise reduction/i,
  speed: /\bspeed\b/i,
  reasoning: /reasoning/i,
  turn_detection: /turn_?detection|turn detection|semantic_?vad|eagerness/i,
  transcription: /transcri(?:ption|be)|language/i,
}

/** The member of these that the server refused, if its refusal names one. */
export const refusedMember = (
  { message, param }: ProtocolError,
  asked: readonly TuningMember[],
): TuningMember | undefined =>
  asked.find((member) => namedBy[member].test(`${param ?? ''} ${message ?? ''}`))

/** The settings without the members that a server refused. */
export const withoutMembers = (
  tuning: SessionTuning,
  refused: ReadonlySet<TuningMember>,
): SessionTuning => {
  const { turnDetection, eagerness, noiseReduction, speed, reasoningEffort, keywords } = tuning
  const isAsked = (member: TuningMember, value: unknown): boolean =>
    value !== undefined && !refused.has(member)
  return {
    ...(isAsked('turn_detection', turnDetection) && turnDetection && { turnDetection }),
    ...(isAsked('turn_detection', eagerness) && eagerness && { eagerness }),
    ...(isAsked('noise_reduction', noiseReduction) && noiseReduction && { noiseReduction }),
    ...(isAsked('speed', speed) && speed && { speed }),
    ...(isAsked('reasoning', reasoningEffort) && reasoningEffort && { reasoningEffort }),
    ...(isAsked('keywords', keywords) && keywords && { keywords }),
  }
}

/** What a server taught us, so that its next session opens at once. */
interface LearnedSession {
  /** The index of the format that it took. */
  readonly format: number
  readonly refused: ReadonlySet<TuningMember>
}

/** Servers and models of one installation; older ones are learned again. */
const maxLearned = 64
/** A server may have been changed since. */
const maxLearnedAgeMs = 60 * 60_000

/** By address, model and settings; shared by the calls of a thread. */
export const learnedSessions = new BoundedMap<string, LearnedSession>({
  maxSize: maxLearned,
  age: { maxMs: maxLearnedAgeMs, clock: { monotonicMs: () => performance.now() } },
})
