import { setTimeout as delay } from 'node:timers/promises'

/** Reads the time. */
export interface Clock {
  /** Wall-clock time. Leases and due times compare in the database's `now()`, never in this. */
  readonly now: () => Date
  /** Milliseconds that never jump; for deadlines within one process. */
  readonly monotonicMs: () => number
}

/**
 * Reads the time and waits for it. It is a parameter, so that tests control it (`tests/support/manual-time.ts`).
 */
export interface Time extends Clock {
  /** Runs `task` once after `delayMs`; the returned function cancels it, safe twice. */
  readonly after: (delayMs: number, task: () => void) => () => void
  /** Resolves after `ms`, or as soon as the signal is aborted; never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

export const systemTime: Time = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  after: (delayMs, task) => {
    const timer = setTimeout(task, delayMs)
    return () => clearTimeout(timer)
  },
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
}
