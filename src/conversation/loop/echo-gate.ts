/** Distinguishes the callee's voice from the echo of the agent's voice. */
interface EchoGate {
  /** The energy (mean square) of the frame just sent. */
  sent(energy: number): void
  /**
   * Whether a frame of this energy is only an echo of what was sent lately. Also advances 20 ms.
   */
  isEcho(energy: number): boolean
}

/** An echo is at least 18 dB weaker than the sent audio; a person who interrupts is louder. */
const echoEnergyRatio = 0.016
/** The memory of sent audio fades within about 400 ms, longer than a line's echo takes. */
const fadePerFrame = 0.8

export const createEchoGate = (): EchoGate => {
  let sentEnergy = 0
  return {
    sent(energy) {
      sentEnergy = Math.max(sentEnergy, energy)
    },
    isEcho(energy) {
      sentEnergy *= fadePerFrame
      return energy < sentEnergy * echoEnergyRatio
    },
  }
}
