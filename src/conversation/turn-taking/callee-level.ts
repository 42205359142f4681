/**
 * How loud the callee is, and what is only in the background: a television, people in the room. The reference is the
 * loudest part of what the callee said before.
 */
export class CalleeLevel {
  #smooth = 0
  #soundPeak = 0
  #reference: number | undefined

  /** The next frame of a sound; `energy` is its mean square. */
  push(energy: number, isVoiced: boolean): void {
    this.#smooth += (energy - this.#smooth) * (energy > this.#smooth ? attack : release)
    if (isVoiced) this.#soundPeak = Math.max(this.#soundPeak, this.#smooth)
  }

  /** Another sound begins. */
  restart(): void {
    this.#soundPeak = 0
  }

  /** The loudest part of the sound since `restart`. */
  get soundPeak(): number {
    return this.#soundPeak
  }

  /** Whether the callee's own loudness is known. */
  get isKnown(): boolean {
    return this.#reference !== undefined
  }

  /** Whether the frame just pushed is as near as the callee. */
  get isNear(): boolean {
    return this.#smooth >= this.#threshold
  }

  /** Whether a frame of this energy is as loud as the callee's voice is known to be. */
  isLoud(energy: number): boolean {
    return this.isKnown && energy >= this.#threshold
  }

  /** Whether a sound with this peak is as near as the callee. */
  isNearPeak(peak: number): boolean {
    return peak >= this.#threshold
  }

  /** The callee said words with this peak. */
  learn(peak: number): void {
    const before = this.#reference ?? peak
    this.#reference = before + (peak - before) * learningShare
  }

  /** The callee was asked whether they are there: whoever speaks next is the callee. */
  forget(): void {
    this.#reference = undefined
  }

  get #threshold(): number {
    return (this.#reference ?? usualEnergy) * backgroundRatio
  }
}

const attack = 0.3
const release = 0.08
const learningShare = 0.4
/** RMS 1,700, -26 dBFS, where nothing is known yet. */
const usualEnergy = 1_700 ** 2
/** 10.5 dB below the callee. */
const backgroundRatio = 0.09
