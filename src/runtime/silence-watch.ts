/** Distinguishes a hanging thread from a late watcher. */
interface SilenceWatch {
  /** How often `tick` has to be called. */
  readonly tickMs: number
  /** A sign of life came. */
  heard(): void
  /** Whether the thread was silent for the limit. Signs that have arrived must be reported between two ticks. */
  tick(nowMs: number): boolean
}

const ticksPerLimit = 5
/** A tick that comes later than this many intervals after the one before came late. */
const lateIntervals = 2

/**
 * Silence is counted in the watcher's own ticks, not by a clock, because a stalled watcher, or a paused process,
 * was not listening. A late tick therefore gives no verdict and does not count: signs from that time wait behind
 * it.
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
