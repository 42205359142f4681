import { frameMs } from '../../audio/frame.ts'

/**
 * Decides frame by frame what happens to the agent's speech when the callee interrupts. Duration decides, never words: a
 * short "uh-huh" pauses the speech, which then resumes. The engine may still reply to its words.
 */
interface BargeIn {
  /**
   * `pause`: hold the speech; `resume`: it was only a cough; `commit`: the callee has the floor,
   * drop the speech.
   * @param isVoiced whether the callee spoke in this frame
   * @param isSpeaking whether the agent has speech to play
   * @param commitMs how much speech makes an interruption: `interruptedAfterMs` of `phases.ts`
   */
  push(isVoiced: boolean, isSpeaking: boolean, commitMs: number): BargeInVerdict | undefined
  readonly isPaused: boolean
}

type BargeInVerdict = 'pause' | 'resume' | 'commit'

const pauseAfterMs = 60
const resumeAfterSilenceMs = 200

export const createBargeIn = (): BargeIn => {
  let voicedRunMs = 0
  let voicedMs = 0
  let silentRunMs = 0
  let isPaused = false

  const whilePaused = (commitMs: number): BargeInVerdict | undefined => {
    if (voicedMs >= commitMs) {
      isPaused = false
      return 'commit'
    }
    if (silentRunMs < resumeAfterSilenceMs) return undefined
    isPaused = false
    return 'resume'
  }

  return {
    push(isVoiced, isSpeaking, commitMs) {
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
