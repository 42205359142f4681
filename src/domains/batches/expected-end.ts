import {
  commonOpenings,
  laneSchedules,
  mergeIntervals,
  type Interval,
} from '../../calling-hours/openings.ts'
import type { CallingWindowJson } from '../../calling-hours/weekly-window.ts'
import type { CallingPolicy } from '../organizations/calling-policy.ts'

/** How many recipients have ended lately, and since when: the pace of a batch. */
export interface Pace {
  readonly ended: number
  readonly sinceMs: number
}

interface Remainder {
  readonly pace: Pace
  /** Recipients that have not ended. */
  readonly remaining: number
  /** The possible zones of each lane's callees. */
  readonly lanes: readonly (readonly string[] | undefined)[]
  readonly policy: CallingPolicy
  readonly callingWindow: CallingWindowJson | undefined
}

/**
 * When the last recipient ends if the batch goes on at its present pace, counted over the time in which some of its
 * lanes are open. Undefined without a pace, and where that lies beyond the next nine days.
 */
export const expectedEndMs = (
  { pace, remaining, lanes, policy, callingWindow }: Remainder,
  nowMs: number,
): number | undefined => {
  if (pace.ended === 0) return undefined
  const openFrom = (fromMs: number): Interval[] =>
    mergeIntervals(
      lanes.flatMap((zones) => commonOpenings(laneSchedules(policy, zones, callingWindow), fromMs)),
    )
  const worked = clip(openFrom(pace.sinceMs), pace.sinceMs, nowMs)
  const workedMs = worked.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
  let leftMs = (Math.max(workedMs, 1) / pace.ended) * remaining
  for (const { startMs, endMs } of clip(openFrom(nowMs), nowMs, Number.POSITIVE_INFINITY)) {
    if (leftMs <= endMs - startMs) return startMs + leftMs
    leftMs -= endMs - startMs
  }
  return undefined
}

const clip = (intervals: readonly Interval[], fromMs: number, untilMs: number): Interval[] =>
  intervals
    .map(({ startMs, endMs }) => ({
      startMs: Math.max(startMs, fromMs),
      endMs: Math.min(endMs, untilMs),
    }))
    .filter(({ startMs, endMs }) => startMs < endMs)
