import { frameMs } from '../../audio/frame.ts'
import type { InterruptionVerdict } from '../turn-taking/interruption-judge.ts'

/** Decides frame by frame what happens to the agent's speech when the callee interrupts. */
export interface BargeIn {
  /**
   * `pause`: hold the speech; `resume`: it goes on where it stopped; `yield`: the callee has the floor,
   * drop the speech.
   * @param isVoiced whether the callee spoke in this frame, and not only the agent's echo
   * @param isSpeaking whether the agent has speech to play
   * @param interruptedAfterMs of `phases.ts`; undefined: nothing interrupts
   */
  push(
    isVoiced: boolean,
    isSpeaking: boolean,
    interruptedAfterMs: number | undefined,
  ): InterruptionVerdict | undefined
  readonly isPaused: boolean
}

const pauseAfterMs = 60
const resumeAfterSilenceMs = 200

/**
 * For an engine that finds the ends of turns itself: duration decides, never words. A short "uh-huh" pauses the speech,
 * which then resumes. The engine may still reply to its words.
 */
export const createBargeIn = (): BargeIn => {
  let voicedRunMs = 0
  let voicedMs = 0
  let silentRunMs = 0
  let isPaused = false

  const whilePaused = (commitMs: number): InterruptionVerdict | undefined => {
    if (voicedMs >= commitMs) {
      isPaused = false
      return 'yield'
    }
    if (silentRunMs < resumeAfterSilenceMs) return undefined
    isPaused = false
    return 'resume'
  }

  return {
    push(isHeard, isSpeaking, interruptedAfterMs) {
      const commitMs = interruptedAfterMs ?? Infinity
      const isVoiced = isHeard && interruptedAfterMs !== undefined
      voicedRunMs = isVoiced ? voicedRunMs + frameMs : 0
      silentRunMs = isVoiced ? 0 : silentRunMs + frameMs
      if (!isSpeaking) {
        isPaused = false
        return undefined
      }
      if (isPaused) {
        if (isVoiced) voicedMs += frameMs
        return whilePaused(commitMs)
      }
      if (voicedRunMs < pauseAfterMs) return undefined
      isPaused = true
      voicedMs = voicedRunMs
      return 'pause'
    },
    get isPaused() {
      return isPaused
    },
  }
}
