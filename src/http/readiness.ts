import type { Clock } from '../runtime/clock.ts'

/** Whether the node can do its work, with a word for each thing it needs. */
export interface Readiness {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** How long one look is told to all who ask: many ask at the same time, and each look takes a connection of the pool. */
const maxAgeMs = 1_000

/** Looks at most once a second, for one at a time, however many ask. A look that failed is told to those who waited for it. */
export const rarely = (
  look: () => Promise<Readiness>,
  clock: Clock,
): (() => Promise<Readiness>) => {
  let latest: { readonly fromMs: number; readonly told: Promise<Readiness> } | undefined
  let isLooking = false
  return () => {
    const nowMs = clock.monotonicMs()
    if (latest && (isLooking || nowMs - latest.fromMs < maxAgeMs)) return latest.told
    isLooking = true
    const told = look().finally(() => {
      isLooking = false
    })
    latest = { fromMs: nowMs, told }
    return told
  }
}
