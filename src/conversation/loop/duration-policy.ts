/** What the cap on a call's length requires at this moment. */
type DurationVerdict = 'warn' | 'say_goodbye' | 'end'

/** Calls with at least this cap get a warning and a goodbye. */
const leastWarnedDurationMs = 60_000
const warningBeforeCapMs = 20_000
const leastGoodbyeDurationMs = 20_000
/** The goodbye begins this long before the cap. */
export const goodbyeBeforeCapMs = 5_000

/** Call it once per 20 ms of the call: warning and goodbye have one moment each. */
export const judgeDuration = (
  nowMs: number,
  maxDurationMs: number,
): DurationVerdict | undefined => {
  const leftMs = maxDurationMs - nowMs
  if (leftMs <= 0) return 'end'
  if (leftMs === warningBeforeCapMs && maxDurationMs >= leastWarnedDurationMs) return 'warn'
  if (leftMs === goodbyeBeforeCapMs && maxDurationMs >= leastGoodbyeDurationMs) return 'say_goodbye'
  return undefined
}
