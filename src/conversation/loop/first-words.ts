import { frameMs } from '../../audio/frame.ts'
import type { FirstWords } from '../turn-taking/turn-taking-settings.ts'

/** Holds the greeting back until it is the agent's turn to begin. */
interface FirstWordsGate {
  /** The next frame of the callee. Returns whether the agent may speak from now on. */
  push(isVoiced: boolean): boolean
}

/** The media path may take a moment to open; the first word must not be lost. */
const greetingDelayMs = 100
/** A callee who says nothing within this time waits for the agent. */
const helloLimitMs = 1_000
/** Silence after a "Hello?". */
const helloOverMs = 260
/** A callee who speaks on is a machine, or wants to be interrupted. */
const longestWaitMs = 5_000
const leastVoiceMs = 60

export const createFirstWordsGate = (firstWords: FirstWords): FirstWordsGate => {
  let elapsedMs = 0
  let voicedMs = 0
  let silentMs = 0
  let isOpen = false

  const mayBegin = (): boolean => {
    if (firstWords !== 'wait') return elapsedMs > greetingDelayMs
    if (elapsedMs >= longestWaitMs) return true
    if (voicedMs >= leastVoiceMs) return silentMs >= helloOverMs
    return elapsedMs >= helloLimitMs && silentMs >= leastVoiceMs
  }

  return {
    push(isVoiced) {
      if (isOpen) return true
      elapsedMs += frameMs
      silentMs = isVoiced ? 0 : silentMs + frameMs
      if (isVoiced) voicedMs += frameMs
      isOpen = mayBegin()
      return isOpen
    },
  }
}
