import type { Clock } from '../../runtime/time.ts'

/** Bounds how many unknown requests one address may make us look at. */
export interface SourceLimiter {
  /** Whether a request from this address may be looked at now. */
  admits(address: string): boolean
}

const maxSources = 10_000

/** A token bucket per source address; the burst is one second's worth, at least one. */
export const createSourceLimiter = (ratePerSecond: number, clock: Clock): SourceLimiter => {
  const burst = Math.max(1, ratePerSecond)
  const buckets = new Map<string, { tokens: number; atMs: number }>()
  return {
    admits: (address) => {
      const nowMs = clock.monotonicMs()
      const bucket = buckets.get(address) ?? { tokens: burst, atMs: nowMs }
      const gained = ((nowMs - bucket.atMs) / 1000) * ratePerSecond
      bucket.tokens = Math.min(burst, bucket.tokens + gained)
      bucket.atMs = nowMs
      remember(buckets, address, bucket)
      if (bucket.tokens < 1) return false
      bucket.tokens -= 1
      return true
    },
  }
}

/** Keeps the most recently seen addresses, so that a spoofed flood only forgets the quiet ones. */
const remember = <T>(buckets: Map<string, T>, address: string, bucket: T): void => {
  buckets.delete(address)
  buckets.set(address, bucket)
  const oldest = buckets.keys().next()
  if (buckets.size > maxSources && oldest.done !== true) buckets.delete(oldest.value)
}
