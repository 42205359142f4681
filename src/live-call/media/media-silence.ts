import { frameMs } from '../../audio/frame.ts'
import { mediaSilenceLimitMs } from './media-protocol.ts'

/** Detects that the other side sends nothing although it should. Counts frames of the call, not wall time. */
export class MediaSilence {
  #isHeld = false
  #resumedAtFrame = 0
  #isReported = false

  /** The media was renegotiated. A side that holds the call may send nothing, whatever was negotiated. */
  agreed(isHeld: boolean, frame: number): void {
    this.#isHeld = isHeld
    this.#resumedAtFrame = frame
  }

  /**
   * Returns true once, when no packet has come for `mediaSilenceLimitMs`.
   * @param silentForMs since the last packet
   */
  check(silentForMs: number, frame: number): boolean {
    if (this.#isHeld || this.#isReported) return false
    const silentMs = Math.min(silentForMs, (frame - this.#resumedAtFrame) * frameMs)
    this.#isReported = silentMs >= mediaSilenceLimitMs
    return this.#isReported
  }
}
