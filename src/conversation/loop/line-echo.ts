/** Distinguishes the callee's voice from the echo of the agent's voice. */
interface LineEcho {
  /** The energy (mean square) of the frame just sent. */
  sent(energy: number): void
  /**
   * Whether a frame of this energy is only an echo of what was sent lately. Also advances 20 ms.
   */
  isEcho(energy: number, isVoiced: boolean): boolean
  /** A sound that ended soon after the agent was paused, without words. `heard`: its loudest frame. */
  mayHaveBeenEcho(heard: number): void
  /** Whether this line returns the agent's voice. */
  readonly isMet: boolean
}

/** Until the line is known, an echo is at least 18 dB weaker than the sent audio; a person who interrupts is louder. */
const usualRatio = 0.016
/** What is louder than this, -10 dB, is no echo. */
const greatestRatio = 0.1
/** So many voiced frames that were only an echo: 200 ms. */
const metFrames = 10
/** Echoes of calls over the internet and satellites come up to 500 ms late. */
const longestDelayFrames = 25
/** Above an echo that was met, 3 dB. */
const margin = 2

export const createLineEcho = (): LineEcho => {
  const sentEnergies = new Float64Array(longestDelayFrames)
  let at = 0
  let pending = 0
  let loudest = 0
  let ratio = usualRatio
  let echoFrames = 0

  return {
    sent(energy) {
      pending = energy
    },
    isEcho(energy, isVoiced) {
      sentEnergies[at] = pending
      at = (at + 1) % longestDelayFrames
      pending = 0
      loudest = 0
      for (const sent of sentEnergies) loudest = Math.max(loudest, sent)
      const isEcho = energy < loudest * ratio
      if (isEcho && isVoiced) echoFrames += 1
      return isEcho
    },
    mayHaveBeenEcho(heard) {
      const met = (heard / loudest) * margin
      if (met > ratio && met <= greatestRatio) ratio = met
    },
    get isMet() {
      return echoFrames >= metFrames
    },
  }
}
