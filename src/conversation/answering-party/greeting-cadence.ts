import { frameMs } from '../../audio/frame.ts'

/**
 * The timing of the first words after an answer: a person says little and waits, a machine goes on.
 */
interface GreetingCadence {
  /** The next 20 ms of the other side. */
  push(isVoiced: boolean): void
  /** `listening` until a judgement is possible; after four seconds it is final. */
  readonly verdict: CadenceVerdict
}

export type CadenceVerdict = 'listening' | 'short' | 'long' | 'silent' | 'unsure'

const windowMs = 4_000
/** A party that has not spoken for this long is silent. */
const silentMs = 2_500
/** A pause that ends a greeting: the person waits for a reply. */
const endPauseMs = 800
/** A greeting without such a pause counts as long beyond this, from its first word to its last. */
const longGreetingMs = 2_600

/** Four seconds from the answer. It delays nothing, because the agent speaks meanwhile. */
export const createGreetingCadence = (): GreetingCadence => {
  let verdict: CadenceVerdict = 'listening'
  let nowMs = 0
  let firstVoicedMs: number | undefined
  let lastVoicedMs = 0

  const judge = (): CadenceVerdict => {
    if (firstVoicedMs === undefined) return nowMs >= silentMs ? 'silent' : 'listening'
    if (lastVoicedMs - firstVoicedMs >= longGreetingMs) return 'long'
    if (nowMs - lastVoicedMs >= endPauseMs) return 'short'
    return nowMs >= windowMs ? 'unsure' : 'listening'
  }

  return {
    push(isVoiced) {
      if (verdict !== 'listening') return
      nowMs += frameMs
      if (isVoiced) {
        firstVoicedMs ??= nowMs - frameMs
        lastVoicedMs = nowMs
      }
      verdict = judge()
    },
    get verdict() {
      return verdict
    },
  }
}
