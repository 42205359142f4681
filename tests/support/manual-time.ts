import { createManualClock, type Clock } from '../../src/runtime/clock.ts'
import type { Sleep } from '../../src/runtime/repeating.ts'

/** Time that passes only by hand: naps end when the clock has been turned far enough. */
export interface ManualTime {
  readonly clock: Clock
  readonly sleep: Sleep
  /** Turns the clock; every nap that is over by then ends. */
  advance(ms: number): void
  /** Resolves once `count` naps are being taken: everybody who will sleep, sleeps. */
  untilAsleep(count: number): Promise<void>
}

export const createManualTime = (): ManualTime => {
  const clock = createManualClock(new Date('2026-11-20T12:00:00Z'))
  const naps = new Set<{ readonly untilMs: number; readonly wake: () => void }>()
  const waiting = new Set<{ readonly count: number; readonly resolve: () => void }>()

  const tellWaiting = (): void => {
    for (const one of waiting) {
      if (naps.size < one.count) continue
      waiting.delete(one)
      one.resolve()
    }
  }

  return {
    clock,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const wake = (): void => {
          signal.removeEventListener('abort', wake)
          naps.delete(nap)
          resolve()
        }
        const nap = { untilMs: clock.monotonicMs() + ms, wake }
        naps.add(nap)
        signal.addEventListener('abort', wake)
        tellWaiting()
      }),
    advance(ms) {
      clock.advance(ms)
      for (const nap of naps) if (nap.untilMs <= clock.monotonicMs()) nap.wake()
    },
    untilAsleep: (count) =>
      new Promise((resolve) => {
        waiting.add({ count, resolve })
        tellWaiting()
      }),
  }
}
