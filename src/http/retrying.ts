import { setTimeout as delay } from 'node:timers/promises'
import { CommitOutcomeUnknownError, isRetryable } from '../database/errors.ts'
import { backoffMs } from '../runtime/backoff.ts'

/** Tries in all, and the pause between them: long enough for a deadlock, not for a failover, which is a 503. */
const maxTries = 3
const pause = { baseMs: 20, maxMs: 100 }

/**
 * Repeats work that a lost connection, a deadlock or a demoted server interrupted. `repeatable` work may be done
 * twice without harm; other work is not repeated once its commit may have succeeded.
 */
export const retrying = async <T>(
  work: () => Promise<T>,
  nature: 'repeatable' | 'unless committed',
): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const mayHaveCommitted = error instanceof CommitOutcomeUnknownError
      const isWorthIt = isRetryable(error) && (nature === 'repeatable' || !mayHaveCommitted)
      if (tries === maxTries || !isWorthIt) throw error
      await delay(backoffMs(tries, pause))
    }
  }
}
