import { maxRunDays } from '../../../calling-hours/local-time.ts'
import type { RunState } from './run-facts.ts'

/** Steps that one run may execute (D6). */
export const maxStepsExecuted = 200
/** The maximum duration of a run (D6). */
export const maxRunMs = maxRunDays * 24 * 3_600_000
/** While an outcome is awaited, and while a live call delays a cancellation. */
export const lookAgainMs = 1_000

/** When the run expires; null before it starts. */
export const expiryMs = ({ startedMs }: RunState): number | null =>
  startedMs === null ? null : startedMs + maxRunMs
