import type { Logger } from './logger.ts'
import type { Time } from './time.ts'

export interface Repeating {
  /** Runs the work again at once, or right after the active run. */
  wake(): void
  /** Resolves when the run under way is over; no other begins. */
  stop(): Promise<void>
}

interface RepeatingOptions {
  readonly name: string
  readonly intervalMs: number
  /** May return a shorter time until the next run. */
  readonly work: () => Promise<number | void>
  readonly time: Pick<Time, 'sleep'>
  readonly logger: Logger
}

/**
 * Runs `work` now and again after each interval, or sooner when woken; never twice at a time. An error is logged once
 * until a run succeeds again, and the next run comes as if nothing had been.
 */
export const repeat = ({ name, intervalMs, work, time, logger }: RepeatingOptions): Repeating => {
  let isStopped = false
  let isWoken = false
  let isFailing = false
  let nap = new AbortController()

  const runOnce = async (): Promise<number> => {
    try {
      const nextMs = await work()
      if (isFailing) logger.info({ loop: name }, 'dispatch loop works again')
      isFailing = false
      return Math.min(nextMs ?? intervalMs, intervalMs)
    } catch (error) {
      if (!isFailing) logger.error({ err: error, loop: name }, 'dispatch loop failed')
      isFailing = true
      return intervalMs
    }
  }

  const run = async (): Promise<void> => {
    while (!isStopped) {
      isWoken = false
      nap = new AbortController()
      const nextMs = await runOnce()
      // `wake` and `stop` abort the nap of this round, also one that has not begun yet.
      if (!isStopped && !isWoken) await time.sleep(nextMs, nap.signal)
    }
  }

  const running = run()
  return {
    wake() {
      isWoken = true
      nap.abort()
    },
    stop() {
      isStopped = true
      nap.abort()
      return running
    },
  }
}
