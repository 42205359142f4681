/** What to do about a callee who says nothing: asks twice, then ends the call. */
export interface SilencePolicy {
  /** One tick. `isQuiet`: neither side is speaking. */
  tick(isQuiet: boolean): SilenceVerdict | undefined
  /** The callee said something that was understood. Noise is not enough: it would keep a dead call alive. */
  heardWords(): void
  /** An assistant asks for whom it shall look: prompts come later until it has spoken once more, and somebody else. */
  expectPause(): void
  /** The agent has finished speaking. Counts only once after the callee's words, so that its own prompts change nothing. */
  agentFinished(): void
}

export type SilenceVerdict = 'prompt' | 'end'

const frameMs = 20
const firstPromptMs = 8_000
const secondPromptMs = 16_000
const endMs = 24_000
/** Phones ring for half a minute. */
const expectedPauseMs = 30_000
const patientTurns = 2

export const createSilencePolicy = (): SilencePolicy => {
  let quietMs = 0
  // The greeting starts the count as an answer does.
  let isAnswering = true
  let turnsOfPatience = 0

  return {
    tick(isQuiet) {
      if (!isQuiet) return undefined
      quietMs += frameMs
      const overdueMs = quietMs - (turnsOfPatience > 0 ? expectedPauseMs : 0)
      if (overdueMs === firstPromptMs || overdueMs === secondPromptMs) return 'prompt'
      return overdueMs === endMs ? 'end' : undefined
    },
    heardWords() {
      quietMs = 0
      turnsOfPatience = Math.max(0, turnsOfPatience - 1)
      isAnswering = true
    },
    expectPause() {
      turnsOfPatience = patientTurns
    },
    agentFinished() {
      if (!isAnswering) return
      quietMs = 0
      isAnswering = false
    },
  }
}
