/** Lateness in milliseconds, rounded up to a quarter. */
export interface Lateness {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Number of measured ticks; with 0 the figures are 0. */
  readonly count: number
}

interface LatenessMeter {
  record(latenessMs: number, nowMs: number): void
  read(nowMs: number): Lateness
}

const bucketMs = 0.25
const buckets = 800
const windowMs = 10_000

/** A histogram over the current and the previous ten seconds: fixed memory, and old values expire. */
export const createLatenessMeter = (): LatenessMeter => {
  let current = new Uint32Array(buckets)
  let previous = new Uint32Array(buckets)
  let windowStartMs = -Infinity

  const rotate = (nowMs: number): void => {
    const age = nowMs - windowStartMs
    if (age < windowMs) return
    previous = age < 2 * windowMs ? current : new Uint32Array(buckets)
    current = new Uint32Array(buckets)
    windowStartMs = nowMs
  }

  const quantile = (counts: readonly number[], count: number, share: number): number => {
    let seen = 0
    const at = counts.findIndex((n) => (seen += n) > 0 && seen >= count * share)
    return at < 0 ? 0 : (at + 1) * bucketMs
  }

  return {
    record(latenessMs, nowMs) {
      rotate(nowMs)
      const bucket = Math.min(buckets - 1, Math.max(0, Math.floor(latenessMs / bucketMs)))
      current[bucket]!++
    },
    read(nowMs) {
      rotate(nowMs)
      const counts = Array.from(current, (n, i) => n + previous[i]!)
      const count = counts.reduce((sum, n) => sum + n, 0)
      return {
        p50Ms: quantile(counts, count, 0.5),
        p99Ms: quantile(counts, count, 0.99),
        maxMs: quantile(counts, count, 1),
        count,
      }
    },
  }
}
