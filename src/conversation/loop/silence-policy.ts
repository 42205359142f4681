import { frameMs } from '../../audio/frame.ts'

/**
 * Handles a silent callee: the agent asks twice, then the call ends. It knows no phases: `prompts.ts` drops its verdict
 * where `phases.ts` has `isPrompted: false` (voicemail, transferring, goodbye, over).
 */
interface SilencePolicy {
  /**
   * One tick.
   * @param isQuiet neither side is speaking
   * @param patienceMs how much later than usual the callee is prompted
   */
  tick(isQuiet: boolean, patienceMs: number): SilenceVerdict | undefined
  /**
   * The callee said something that was understood. Noise does not count, because it would keep a
   * dead call alive.
   */
  heardWords(): void
  /**
   * The agent has finished speaking. Counts only once after the callee's words, so that its own
   * prompts do not restart the count.
   */
  agentFinished(): void
}

type SilenceVerdict = 'prompt' | 'end'

const firstPromptMs = 8_000
const secondPromptMs = 16_000
const endMs = 24_000

export const createSilencePolicy = (): SilencePolicy => {
  let quietMs = 0
  // The greeting starts the count as a reply does.
  let isReplyDue = true

  return {
    tick(isQuiet, patienceMs) {
      if (!isQuiet) return undefined
      quietMs += frameMs
      const overdueMs = quietMs - patienceMs
      if (overdueMs === firstPromptMs || overdueMs === secondPromptMs) return 'prompt'
      return overdueMs === endMs ? 'end' : undefined
    },
    heardWords() {
      quietMs = 0
      isReplyDue = true
    },
    agentFinished() {
      if (!isReplyDue) return
      quietMs = 0
      isReplyDue = false
    },
  }
}
