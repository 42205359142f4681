import { frameMs } from '../../../audio/frame.ts'

/**
 * Finds pauses inside of speech. The detector of voice holds on for about 100 ms, so this silence is 200 ms for the
 * callee's ear.
 */
const pauseMs = 100
/** Words are often that far apart; a longer silence is seldom inside of a sentence. */
const longPauseMs = 260
/** A click in a pause is no speech. */
const resumeFrames = 3

export class PauseWatch {
  #silentMs = 0
  #voicedRun = 0
  #isPaused = false

  get isPaused(): boolean {
    return this.#isPaused
  }

  get isLong(): boolean {
    return this.#isPaused && this.#silentMs >= longPauseMs
  }

  /** @param isHearing speech has begun and not ended */
  hear(isVoiced: boolean, isHearing: boolean): 'paused' | 'long_pause' | 'resumed' | undefined {
    if (!isHearing) {
      this.reset()
      return undefined
    }
    this.#silentMs = isVoiced ? 0 : this.#silentMs + frameMs
    this.#voicedRun = isVoiced ? this.#voicedRun + 1 : 0
    if (!this.#isPaused && this.#silentMs >= pauseMs) {
      this.#isPaused = true
      return 'paused'
    }
    if (this.#isPaused && this.#silentMs === longPauseMs) return 'long_pause'
    if (this.#isPaused && this.#voicedRun >= resumeFrames) {
      this.#isPaused = false
      return 'resumed'
    }
    return undefined
  }

  reset(): void {
    this.#silentMs = 0
    this.#voicedRun = 0
    this.#isPaused = false
  }
}
