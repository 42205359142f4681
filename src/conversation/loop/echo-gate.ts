/** Distinguishes the callee's voice from the agent's voice that comes back over the line. */
export interface EchoGate {
  /** The energy (mean square) of the frame just sent. */
  sent(energy: number): void
  /** Whether a frame of this energy is no more than an echo of what was sent lately. Also lets 20 ms pass. */
  isEcho(energy: number): boolean
}

/** An echo is at least 18 dB weaker than what was sent; a person speaking into the agent's words is not. */
const echoEnergyRatio = 0.016
/** What was sent fades from memory within about 400 ms, longer than a line's echo takes. */
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
