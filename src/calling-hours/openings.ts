import { Temporal } from 'temporal-polyfill'
import { isTimeZone } from '../contract/time-zone.ts'
import { holidayOn, type Holiday } from './holidays.ts'
import { canOpenTogether } from './open-together.ts'
import {
  weekdays,
  type CallingWindowJson,
  type Weekday,
  type WeeklyWindow,
} from './weekly-window.ts'

/** Epoch milliseconds, half-open: includes `startMs`, excludes `endMs`. */
export interface Interval {
  readonly startMs: number
  readonly endMs: number
}

/** Weekly windows of wall-clock time in one IANA zone. */
export interface Schedule {
  readonly timeZone: string
  readonly windows: readonly WeeklyWindow[]
  /** Days of the zone's calendar on which no window is open. */
  readonly holidays?: readonly Holiday[]
}

/** How far ahead openings are searched; a lane that finds none searches again before that. */
export const horizonMs = 9 * 24 * 3_600_000

/**
 * How many horizons one after the other are searched where holidays may be what closes the first: 50 are 450 days, so
 * that a policy whose every day of a year is a holiday ends the search, too.
 */
const maxHorizons = 50

/**
 * When a lane may dial: the policy in every possible zone of its callees (in the organization's zone, if they have
 * no place or are never open together), and the batch's own window in the zone that the window names (D5, D12).
 */
export const laneSchedules = (
  policy: Schedule,
  timeZones: readonly string[] | undefined,
  callingWindow?: CallingWindowJson,
): Schedule[] => {
  const schedules: Schedule[] = calleeZones(policy, timeZones).map((timeZone) => ({
    timeZone,
    windows: policy.windows,
    ...(policy.holidays && { holidays: policy.holidays }),
  }))
  return callingWindow ? [...schedules, scheduleOfWindow(callingWindow)] : schedules
}

/** The zones in which callees are judged (D12). */
export const calleeZones = (
  policy: Schedule,
  timeZones: readonly string[] | undefined,
): readonly string[] =>
  timeZones && canOpenTogether(timeZones, policy.windows) ? timeZones : [policy.timeZone]

const scheduleOfWindow = (window: CallingWindowJson): Schedule => ({
  timeZone: window.time_zone,
  windows: [
    {
      weekdays: weekdays.filter((weekday) => window.weekdays.includes(weekday)),
      startTime: window.start_time,
      endTime: window.end_time,
    },
  ],
})

/**
 * The current opening, or the next one within the horizon: the first period, not yet over at `fromMs`, in which
 * every schedule is open. Adjacent windows are one opening. Holidays do not count towards the horizon: the opening
 * after them is found, however many they are in a row. Undefined: none within the horizon, or an unknown zone
 * (fail closed).
 */
export const nextOpening = (schedules: readonly Schedule[], fromMs: number): Interval | undefined =>
  openingWithin(schedules, fromMs) ??
  (haveHolidays(schedules) && openingWithin(schedules.map(withoutHolidays), fromMs)
    ? openingAfterHolidays(schedules, fromMs)
    : undefined)

const openingWithin = (schedules: readonly Schedule[], fromMs: number): Interval | undefined =>
  commonOpenings(schedules, fromMs).find((opening) => opening.endMs > fromMs)

const openingAfterHolidays = (
  schedules: readonly Schedule[],
  fromMs: number,
): Interval | undefined => {
  for (let horizon = 1; horizon < maxHorizons; horizon += 1) {
    const found = openingWithin(schedules, fromMs + horizon * horizonMs)
    if (found) return found
  }
  return undefined
}

const haveHolidays = (schedules: readonly Schedule[]): boolean =>
  schedules.some(({ holidays }) => holidays !== undefined && holidays.length > 0)

const withoutHolidays = ({ timeZone, windows }: Schedule): Schedule => ({ timeZone, windows })

/** Every period within the horizon in which each of the schedules is open, in order, from a little before `fromMs`. */
export const commonOpenings = (schedules: readonly Schedule[], fromMs: number): Interval[] => {
  const [first, ...others] = schedules.map((schedule) => openIntervals(schedule, fromMs))
  return first ? others.reduce(intersect, first) : []
}

/** Every opening of one schedule from a little before `fromMs` to the horizon, in order, adjacent ones merged. */
export const openIntervals = (
  { timeZone, windows, holidays }: Schedule,
  fromMs: number,
): Interval[] => {
  if (!isTimeZone(timeZone)) return []
  const untilMs = fromMs + horizonMs
  const intervals = offsetSegments(timeZone, fromMs, untilMs).flatMap((segment) =>
    windows.flatMap((window) => openInSegment(window, holidays, segment)),
  )
  return mergeIntervals(intervals)
}

/** A period in which the zone's offset from UTC does not change. */
interface OffsetSegment extends Interval {
  readonly offsetMs: number
}

/**
 * Wall-clock time runs evenly within one offset, so windows are exact on each side of a clock change: a skipped
 * hour does not occur, a repeated hour counts twice (D5).
 */
const offsetSegments = (timeZone: string, fromMs: number, untilMs: number): OffsetSegment[] => {
  const segments: OffsetSegment[] = []
  let at = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone)
  while (at.epochMilliseconds < untilMs) {
    const next = at.getTimeZoneTransition('next')
    const endMs = Math.min(next?.epochMilliseconds ?? untilMs, untilMs)
    segments.push({
      startMs: at.epochMilliseconds,
      endMs,
      offsetMs: at.offsetNanoseconds / 1e6,
    })
    if (!next) break
    at = next
  }
  return segments
}

const dayMs = 24 * 3_600_000

const openInSegment = (
  window: WeeklyWindow,
  holidays: readonly Holiday[] | undefined,
  segment: OffsetSegment,
): Interval[] => {
  const { startMs, endMs, offsetMs } = segment
  const intervals: Interval[] = []
  const firstDay = Math.floor((startMs + offsetMs) / dayMs)
  const lastDay = Math.floor((endMs - 1 + offsetMs) / dayMs)
  for (let day = firstDay; day <= lastDay; day += 1) {
    if (!window.weekdays.includes(weekdayOf(day)) || holidayOn(holidays, day)) continue
    const midnightMs = day * dayMs - offsetMs
    const opening = {
      startMs: Math.max(startMs, midnightMs + timeOfDayMs(window.startTime)),
      endMs: Math.min(endMs, midnightMs + timeOfDayMs(window.endTime)),
    }
    if (opening.startMs < opening.endMs) intervals.push(opening)
  }
  return intervals
}

/** Days are counted from 1 January 1970, a Thursday. */
const weekdayOf = (day: number): Weekday => weekdays[(day + 3) % 7] as Weekday

const timeOfDayMs = (time: string): number =>
  (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * 60_000

/** In order; those that touch are one. */
export const mergeIntervals = (intervals: readonly Interval[]): Interval[] => {
  const merged: Interval[] = []
  for (const interval of intervals.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = merged.at(-1)
    if (last && interval.startMs <= last.endMs) {
      merged[merged.length - 1] = {
        startMs: last.startMs,
        endMs: Math.max(last.endMs, interval.endMs),
      }
    } else merged.push(interval)
  }
  return merged
}

const intersect = (left: readonly Interval[], right: readonly Interval[]): Interval[] =>
  left.flatMap((a) =>
    right
      .map((b) => ({
        startMs: Math.max(a.startMs, b.startMs),
        endMs: Math.min(a.endMs, b.endMs),
      }))
      .filter((both) => both.startMs < both.endMs),
  )

/**
 * The callee's day at `atMs`. With several possible zones it lasts from the first midnight in any of them until the
 * next midnight has come in all of them, so the limit per day holds in every zone.
 */
export const dayOfCallee = (timeZones: readonly string[], atMs: number): Interval => {
  const days = timeZones.map((timeZone) => {
    const at = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone)
    const midnight = at.startOfDay()
    return {
      startMs: midnight.epochMilliseconds,
      endMs: midnight.add({ days: 1 }).startOfDay().epochMilliseconds,
    }
  })
  return {
    startMs: Math.min(...days.map((day) => day.startMs)),
    endMs: Math.max(...days.map((day) => day.endMs)),
  }
}
