import type { Clock } from '../runtime/time.ts'

/** Whether the node can work, with a word for each of its needs. */
export interface Readiness {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** How long one result is reused: many ask at the same time, and each check takes a connection of the pool. */
const maxAgeMs = 1_000
/** A waiter for a start gets its end soon; a node that is not ready has spare connections. */
const maxUnreadyAgeMs = 50

/**
 * Checks at most once a second, one at a time, for any number of requests. A failed check is reported to those who
 * waited for it.
 */
export const rarely = (
  look: () => Promise<Readiness>,
  clock: Clock,
): (() => Promise<Readiness>) => {
  let latest: Promise<Readiness> | undefined
  let fromMs = 0
  let ageMs = maxUnreadyAgeMs
  let isLooking = false
  const lookAgain = async (): Promise<Readiness> => {
    isLooking = true
    ageMs = maxUnreadyAgeMs
    try {
      const told = await look()
      if (told.isReady) ageMs = maxAgeMs
      return told
    } finally {
      isLooking = false
    }
  }
  return () => {
    const nowMs = clock.monotonicMs()
    if (latest && (isLooking || nowMs - fromMs < ageMs)) return latest
    fromMs = nowMs
    latest = lookAgain()
    return latest
  }
}
