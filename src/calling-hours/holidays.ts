import { Temporal } from 'temporal-polyfill'

/** A day of a wall calendar on which no phone rings. */
export interface Holiday {
  /** `2026-12-25`. */
  readonly date: string
  readonly name?: string
  /** The month and day of every year; 29 February comes in leap years only. */
  readonly everyYear?: boolean
}

const dayMs = 24 * 3_600_000

/** Days since 1 January 1970 of a `YYYY-MM-DD` date. Undefined: there is no such day. */
export const dayOfDate = (date: string): number | undefined => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return undefined
  const ms = Date.parse(`${date}T00:00:00Z`)
  // Date.parse refuses 31 February in some engines and rolls it over in others.
  return new Date(ms).toJSON()?.startsWith(date) ? ms / dayMs : undefined
}

/** `12-25` of a day since 1 January 1970. */
const monthAndDay = (day: number): string => new Date(day * dayMs).toISOString().slice(5, 10)

interface Calendar {
  readonly once: ReadonlyMap<number, Holiday>
  readonly yearly: ReadonlyMap<string, Holiday>
}

/** A policy is read once and asked for many days. */
const calendars = new WeakMap<readonly Holiday[], Calendar>()

const calendarOf = (holidays: readonly Holiday[]): Calendar => {
  const known = calendars.get(holidays)
  if (known) return known
  const calendar = {
    once: new Map(
      holidays.flatMap((holiday) => {
        const day = holiday.everyYear ? undefined : dayOfDate(holiday.date)
        return day === undefined ? [] : [[day, holiday] as const]
      }),
    ),
    yearly: new Map(
      holidays
        .filter(({ everyYear }) => everyYear)
        .map((holiday) => [holiday.date.slice(5), holiday] as const),
    ),
  }
  calendars.set(holidays, calendar)
  return calendar
}

/** The holiday on a day since 1 January 1970 of a wall calendar, if it is one. */
export const holidayOn = (
  holidays: readonly Holiday[] | undefined,
  day: number,
): Holiday | undefined => {
  if (!holidays || holidays.length === 0) return undefined
  const { once, yearly } = calendarOf(holidays)
  return once.get(day) ?? (yearly.size > 0 ? yearly.get(monthAndDay(day)) : undefined)
}

/** Days looked at for a holiday that explains a wait. */
const maxDaysAhead = 400

/**
 * For people, to be put behind a sentence about closed hours: `; 2026-12-25 is a holiday (Christmas Day)`, the first
 * between two instants in one of the zones. Empty without one.
 */
export const holidayBetween = (
  holidays: readonly Holiday[] | undefined,
  timeZones: readonly string[],
  fromMs: number,
  untilMs: number,
): string => {
  if (!holidays || holidays.length === 0) return ''
  for (let ahead = 0; ahead < maxDaysAhead; ahead += 1) {
    const atMs = fromMs + ahead * dayMs
    if (ahead > 0 && atMs >= untilMs) return ''
    for (const timeZone of timeZones) {
      const day = dayOfDate(dateIn(timeZone, atMs)) ?? Number.NaN
      const holiday = holidayOn(holidays, day)
      if (holiday) return `; ${describeHoliday(holiday, day)}`
    }
  }
  return ''
}

const dateIn = (timeZone: string, atMs: number): string =>
  Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate().toString()

const describeHoliday = ({ name }: Holiday, day: number): string =>
  `${new Date(day * dayMs).toISOString().slice(0, 10)} is a holiday${name === undefined ? '' : ` (${name})`}`
