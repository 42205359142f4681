import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Clock } from '../../runtime/time.ts'

/** Limits how many unknown requests of one address are processed. */
export interface SourceLimiter {
  /** Whether a request from this address may be processed now. */
  admits(address: string): boolean
}

const maxSources = 10_000

/** A token bucket per source address; the burst is one second's worth, at least one. */
export const createSourceLimiter = (ratePerSecond: number, clock: Clock): SourceLimiter => {
  const burst = Math.max(1, ratePerSecond)
  // The most recently seen addresses, so that a forged flood only evicts the quiet ones.
  const buckets = new BoundedMap<string, { tokens: number; atMs: number }>({ maxSize: maxSources })
  return {
    admits: (address) => {
      const nowMs = clock.monotonicMs()
      const bucket = buckets.get(address) ?? { tokens: burst, atMs: nowMs }
      const gained = ((nowMs - bucket.atMs) / 1000) * ratePerSecond
      bucket.tokens = Math.min(burst, bucket.tokens + gained)
      bucket.atMs = nowMs
      buckets.set(address, bucket)
      if (bucket.tokens < 1) return false
      bucket.tokens -= 1
      return true
    },
  }
}
