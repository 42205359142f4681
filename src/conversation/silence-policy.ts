/** What to do about a callee who says nothing: asks twice, then ends the call. */
export interface SilencePolicy {
  /** One tick. `isQuiet`: neither side is speaking. */
  tick(isQuiet: boolean): SilenceVerdict | undefined
  /** The callee said something that was understood. Noise is not enough: it would keep a dead call alive. */
  heardWords(): void
  /** The agent has finished speaking. Counts only once after the callee's words, so that its own prompts change nothing. */
  agentFinished(): void
}

export type SilenceVerdict = 'prompt' | 'end'

const frameMs = 20
const firstPromptMs = 8_000
const secondPromptMs = 16_000
const endMs = 24_000

export const createSilencePolicy = (): SilencePolicy => {
  let quietMs = 0
  // The greeting starts the count as an answer does.
  let isAnswering = true

  return {
    tick(isQuiet) {
      if (!isQuiet) return undefined
      quietMs += frameMs
      if (quietMs === firstPromptMs || quietMs === secondPromptMs) return 'prompt'
      return quietMs === endMs ? 'end' : undefined
    },
    heardWords() {
      quietMs = 0
      isAnswering = true
    },
    agentFinished() {
      if (!isAnswering) return
      quietMs = 0
      isAnswering = false
    },
  }
}
