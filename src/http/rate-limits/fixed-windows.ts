import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { Clock } from '../../runtime/time.ts'

/** A key's state in its current window. */
export interface WindowCount {
  /** Hits of this window, this one included. */
  readonly count: number
  /** Whole seconds until the window ends: at least 1, at most the window's length. */
  readonly resetSeconds: number
}

export interface FixedWindows {
  hit(key: string): WindowCount
  /** Hits of the current window, without one more. */
  count(key: string): number
}

interface FixedWindowsOptions {
  readonly clock: Clock
  readonly windowSeconds: number
  /** Keys kept at one time; beyond, the one that was opened first is forgotten. */
  readonly maxKeys: number
}

/**
 * Counts hits per key in windows that open with a key's first hit. Synchronous, without timers, and bounded in
 * memory, so that an attacker's invented keys cannot fill it.
 */
export const createFixedWindows = (options: FixedWindowsOptions): FixedWindows => {
  const { clock, windowSeconds, maxKeys } = options
  const windowMs = windowSeconds * 1000
  const windows = new BoundedMap<string, { readonly endsMs: number; count: number }>({
    maxSize: maxKeys,
    age: { maxMs: windowMs, clock },
  })

  const open = (key: string, nowMs: number) => {
    const window = { endsMs: nowMs + windowMs, count: 0 }
    windows.set(key, window)
    return window
  }
  return {
    hit(key) {
      const nowMs = clock.monotonicMs()
      const window = windows.get(key) ?? open(key, nowMs)
      window.count += 1
      const resetSeconds = wholeSecondsLeft(window.endsMs - nowMs, windowSeconds)
      return { count: window.count, resetSeconds }
    },
    count: (key) => windows.get(key)?.count ?? 0,
  }
}

/**
 * The reported rest of a window that ends in `leftMs`. Never more than its length: rounding of two clock readings
 * could give 60 000.000 000 001 ms, which would be reported as 61 s.
 */
export const wholeSecondsLeft = (leftMs: number, windowSeconds: number): number =>
  Math.min(windowSeconds, Math.max(1, Math.ceil(leftMs / 1000)))
