/** Tells a thread that hangs from one whose watcher was late itself. */
interface SilenceWatch {
  /** How often `tick` has to be called. */
  readonly tickMs: number
  /** A sign of life came. */
  heard(): void
  /** Whether nothing was heard for the limit. Signs that have come must be heard between two ticks. */
  tick(nowMs: number): boolean
}

const ticksPerLimit = 5
/** A tick that comes later than this many intervals after the one before came late. */
const lateIntervals = 2

/**
 * Silence is counted in the watcher's own ticks, not by a clock: a watcher that was stalled, or a process that was paused,
 * has heard nothing for long because it did not listen. A tick that came late itself therefore gives no verdict and
 * counts for nothing: what was said meanwhile waits behind it.
 */
export const createSilenceWatch = (limitMs: number, startMs: number): SilenceWatch => {
  const tickMs = limitMs / ticksPerLimit
  let lastTickMs = startMs
  let silentTicks = 0
  return {
    tickMs,
    heard: () => {
      silentTicks = 0
    },
    tick: (nowMs) => {
      const isLate = nowMs - lastTickMs > lateIntervals * tickMs
      lastTickMs = nowMs
      if (!isLate) silentTicks += 1
      // The first tick may follow a sign of life at once.
      return !isLate && silentTicks > ticksPerLimit
    },
  }
}
