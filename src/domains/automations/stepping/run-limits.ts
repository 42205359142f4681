import { maxRunDays } from '../../../calling-hours/local-time.ts'
import type { RunState } from './run-facts.ts'

/** Steps that one run may execute (D6). */
export const maxStepsExecuted = 200
/** How long one run may go on (D6). */
export const maxRunMs = maxRunDays * 24 * 3_600_000
/** While an outcome is being found out, and while a live call keeps a cancelled run. */
export const lookAgainMs = 1_000

/** When the run has gone on for too long; null before it starts. */
export const expiryMs = ({ startedMs }: RunState): number | null =>
  startedMs === null ? null : startedMs + maxRunMs
