import {
  calleeZones,
  commonOpenings,
  dayOfCallee,
  horizonMs,
  laneSchedules,
  nextOpening,
  type Interval,
  type Schedule,
} from '../../../calling-hours/openings.ts'
import type { CallingWindowJson } from '../../../calling-hours/weekly-window.ts'
import type { CallingPolicy } from '../../organizations/calling-policy.ts'

/** The openings of a lane, read forwards in time: each instant asked for is not before the last one. */
export interface LaneOpenings {
  /** The opening at `atMs`, or the next one; undefined: it never opens again. */
  at(atMs: number): Interval | undefined
  /** The callee's day, for the limit of attempts. */
  dayAt(atMs: number): Interval
}

/** Lanes with the same places and window share what was computed for one of them. */
export const createOpenings = (
  policy: CallingPolicy,
): ((zones: readonly string[] | undefined, window?: CallingWindowJson) => LaneOpenings) => {
  const known = new Map<string, LaneOpenings>()
  return (zones, window) => {
    const key = JSON.stringify([zones, window])
    const found = known.get(key)
    if (found) return found
    const schedules = laneSchedules(policy, zones, window)
    const openings: LaneOpenings = {
      at: createCursor(schedules),
      dayAt: createDays(calleeZones(policy, zones)),
    }
    known.set(key, openings)
    return openings
  }
}

const createCursor = (schedules: readonly Schedule[]): LaneOpenings['at'] => {
  let openings: readonly Interval[] = []
  let next = 0
  let knownUntilMs = Number.NEGATIVE_INFINITY
  let isOver = false
  return (atMs) => {
    for (;;) {
      while (next < openings.length && (openings[next] as Interval).endMs <= atMs) next += 1
      if (next < openings.length) return openings[next]
      if (isOver) return undefined
      const fromMs = Math.max(atMs, knownUntilMs)
      openings = commonOpenings(schedules, fromMs)
      knownUntilMs = fromMs + horizonMs
      next = 0
      if (openings.length > 0) continue
      // Holidays longer than what was looked at, or no opening ever.
      const later = nextOpening(schedules, fromMs)
      if (later) knownUntilMs = later.startMs
      else isOver = true
    }
  }
}

const createDays = (zones: readonly string[]): LaneOpenings['dayAt'] => {
  let day: Interval = { startMs: 0, endMs: 0 }
  let validUntilMs = Number.NEGATIVE_INFINITY
  return (atMs) => {
    if (atMs >= validUntilMs) {
      day = dayOfCallee(zones, atMs)
      // With several zones the day is another one from the first midnight on.
      validUntilMs = Math.min(...zones.map((zone) => dayOfCallee([zone], atMs).endMs))
    }
    return day
  }
}
