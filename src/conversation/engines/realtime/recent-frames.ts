import { g711FrameBytes } from '../../../audio/g711.ts'

/** The callee's last seconds of audio, which another session may hear again. */
interface RecentFrames {
  push(frame: Uint8Array): void
  /** Frames from this number on (the first ever pushed is 0), oldest first, as far as they are still stored. */
  since(frameNumber: number): Uint8Array[]
  /** How many were ever pushed. */
  readonly count: number
  /** The number of the oldest stored frame. */
  readonly oldest: number
}

/** Eight seconds: 64 kB for each call. */
const maxFrames = 400

export const createRecentFrames = (): RecentFrames => {
  const bytes = new Uint8Array(maxFrames * g711FrameBytes)
  let count = 0
  const oldest = (): number => Math.max(0, count - maxFrames)

  return {
    push(frame) {
      bytes.set(frame, (count % maxFrames) * g711FrameBytes)
      count += 1
    },
    since(frameNumber) {
      const first = Math.max(oldest(), frameNumber)
      return Array.from({ length: Math.max(0, count - first) }, (_, index) => {
        const at = ((first + index) % maxFrames) * g711FrameBytes
        return bytes.slice(at, at + g711FrameBytes)
      })
    },
    get count() {
      return count
    },
    get oldest() {
      return oldest()
    },
  }
}
