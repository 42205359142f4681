import { Temporal } from 'temporal-polyfill'

/** Longest wait or delay, and maximum duration of a run (D6: at most 90 days). */
export const maxRunDays = 90

/** Days searched for a wall-clock time: a clock change skips it on one day, never on two in a row. */
const maxDaysAhead = 10

const dayMs = 24 * 3_600_000

/** What is wrong with an ISO 8601 duration of a definition, as a sentence; undefined if nothing is. */
export const durationProblem = (
  text: string,
  { mayBeZero = false }: { mayBeZero?: boolean } = {},
): string | undefined => {
  const duration = parseDuration(text)
  if (!duration) return 'It must be an ISO 8601 duration such as "PT30M", "PT4H" or "P1D".'
  if (duration.sign < 0) return 'It must not be negative.'
  const durationMs = longestMs(duration)
  // A clock that counts milliseconds cannot measure less than one.
  if (durationMs < 1 && !mayBeZero) return 'It must be longer than nothing.'
  return durationMs > maxRunDays * dayMs ? `It must be at most ${maxRunDays} days.` : undefined
}

/** Months follow the callee's calendar; this check uses the longest two in a row, July and August. */
const longestMs = (duration: Temporal.Duration): number => {
  try {
    return duration.total({ unit: 'milliseconds', relativeTo: '2026-07-01' })
  } catch {
    // Beyond the end of the calendar.
    return Number.POSITIVE_INFINITY
  }
}

const parseDuration = (text: string): Temporal.Duration | undefined => {
  try {
    return Temporal.Duration.from(text)
  } catch {
    return undefined
  }
}

/**
 * `fromMs` plus a duration, in epoch milliseconds. Days and weeks follow the callee's calendar: a day after ten
 * o'clock is ten o'clock, also over a clock change. With several possible zones, the latest.
 */
export const addDuration = (
  fromMs: number,
  duration: string,
  timeZones: readonly string[],
): number =>
  Math.max(...timeZones.map((zone) => zoned(fromMs, zone).add(duration).epochMilliseconds))

/**
 * The first instant after `nowMs`, and not before `notBeforeMs`, at which clocks in the callee's zone show `time`
 * (`HH:MM`). A time that a clock change skips does not come on that day; one that it repeats comes twice. With
 * several possible zones, the time counts when it has come in the last of them.
 */
export const nextLocalTime = (
  time: string,
  { nowMs, notBeforeMs }: { nowMs: number; notBeforeMs: number },
  timeZones: readonly string[],
): number => {
  const earliest = timeZones
    .map((zone) => zoned(notBeforeMs, zone).toPlainDate())
    .reduce((first, date) => (Temporal.PlainDate.compare(date, first) < 0 ? date : first))
  for (let days = 0; days <= maxDaysAhead; days += 1) {
    const found = occurrences(earliest.add({ days }), time, timeZones).find(
      (atMs) => atMs > nowMs && atMs >= notBeforeMs,
    )
    if (found !== undefined) return found
  }
  throw new Error(`${time} does not come within ${maxDaysAhead} days in ${timeZones.join(', ')}`)
}

/** On one date: none, one, or two where a clock change repeats the time; in order. */
const occurrences = (
  date: Temporal.PlainDate,
  time: string,
  timeZones: readonly string[],
): number[] => {
  const wall = date.toPlainDateTime(time)
  const choices = (['earlier', 'later'] as const).map((disambiguation) =>
    timeZones.map((zone) => wall.toZonedDateTime(zone, { disambiguation })),
  )
  return choices
    .filter((inZones) => inZones.every((at) => at.toPlainDateTime().equals(wall)))
    .map((inZones) => Math.max(...inZones.map((at) => at.epochMilliseconds)))
}

const zoned = (epochMs: number, timeZone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timeZone)

/** For people: `2026-11-01 10:00 EST` and similar. */
export const describeLocalTime = (epochMs: number, timeZone: string): string => {
  const at = zoned(epochMs, timeZone)
  const weekday = at.toLocaleString('en-US', { weekday: 'short' })
  const time = at.toPlainTime().toString({ smallestUnit: 'second' })
  return `${weekday} ${at.toPlainDate().toString()} ${time} ${at.offset}`
}
