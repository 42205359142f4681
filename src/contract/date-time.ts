// RFC 3339 section 5.6, with the lower-case letters it permits.
const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

// Offsets, and the year 0000, exceed what four digits and PostgreSQL can represent.
const earliest = '0001-01-01T00:00:00.000000Z'
const latest = '9999-12-31T23:59:59.999999Z'
const earliestMs = Date.parse(earliest)
const latestMs = Date.parse(latest)

/**
 * An RFC 3339 instant as UTC text with microseconds (`2026-07-16T08:00:00.000000Z`), so that two notations of one
 * instant become one text; `undefined` if the text is no instant. Finer digits are cut, years are clamped to 1 to
 * 9999, and a leap second becomes the second after it, as in clocks without leap seconds.
 */
export const parseDateTime = (text: string): string | undefined => {
  const match = rfc3339.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] =
    match
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as Six
  if (h > 23 || mi > 59 || s > 60 || !isDay(y, mo, d)) return undefined
  const offset = offsetMinutes(sign, offsetHour, offsetMinute)
  if (offset === undefined) return undefined
  const instantMs = startOfDay(y, mo, d) + ((h * 60 + mi - offset) * 60 + s) * 1000
  if (s === 60 && !isStartOfMonth(instantMs)) return undefined
  if (instantMs < earliestMs) return earliest
  if (instantMs > latestMs) return latest
  const microseconds = fraction.padEnd(6, '0').slice(0, 6)
  return `${new Date(instantMs).toISOString().slice(0, 19)}.${microseconds}Z`
}

/** Milliseconds since 1970. Date.UTC would read the years 0 to 99 as years of the last century. */
const startOfDay = (year: number, month: number, day: number): number =>
  new Date(0).setUTCFullYear(year, month - 1, day)

/** Date rolls over February 30th into March. */
const isDay = (year: number, month: number, day: number): boolean => {
  const date = new Date(startOfDay(year, month, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** Leap seconds occur only at the end of a month in UTC (RFC 3339 section 5.7). */
const isStartOfMonth = (ms: number): boolean =>
  ms % 86_400_000 === 0 && new Date(ms).getUTCDate() === 1

type Six = [number, number, number, number, number, number]

const offsetMinutes = (
  sign: string | undefined,
  hours: string | undefined,
  minutes: string | undefined,
): number | undefined => {
  if (sign === undefined) return 0
  const [h, m] = [Number(hours), Number(minutes)]
  if (h > 23 || m > 59) return undefined
  return (sign === '-' ? -1 : 1) * (h * 60 + m)
}

/** A date-time for clients: RFC 3339 in UTC with milliseconds and `Z` (D1). */
export const formatDateTime = (instant: Date): string => instant.toISOString()
