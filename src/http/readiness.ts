import type { Clock } from '../runtime/time.ts'

/** Whether the node can do its work, with a word for each thing it needs. */
export interface Readiness {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** How long one look is told to all who ask: many ask at the same time, and each look takes a connection of the pool. */
const maxAgeMs = 1_000
/** Whoever waits for a start hears of its end soon; a node that is not ready has connections to spare. */
const maxUnreadyAgeMs = 50

/** Looks at most once a second, for one at a time, however many ask. A look that failed is told to those who waited for it. */
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
