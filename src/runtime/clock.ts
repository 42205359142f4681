/** The time, as a parameter: tests move it by hand. */
export interface Clock {
  /** Wall-clock time. Leases and due times compare in the database's `now()`, never in this. */
  now(): Date
  /** Milliseconds that never jump; for deadlines within one process. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
}

/** A clock that stands still until `advance` is called. */
export const createManualClock = (start: Date): Clock & { advance(ms: number): void } => {
  let elapsedMs = 0
  return {
    now: () => new Date(start.getTime() + elapsedMs),
    monotonicMs: () => elapsedMs,
    advance: (ms) => {
      elapsedMs += ms
    },
  }
}
