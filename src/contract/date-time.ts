// RFC 3339 section 5.6, with the lower-case letters it permits; seconds 60 are refused, as no clock of ours shows them.
const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

const earliestMs = Date.UTC(1970, 0, 1)
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * An RFC 3339 instant of 1970 to 9999 as UTC text with microseconds (`2026-07-16T08:00:00.000000Z`), so that one
 * instant written with two offsets is one text; `undefined` where the text is no such instant. Finer digits are cut.
 */
export const parseDateTime = (text: string): string | undefined => {
  const match = rfc3339.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] =
    match
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as Six
  if (h > 23 || mi > 59 || s > 59) return undefined
  const local = new Date(Date.UTC(y, mo - 1, d, h, mi, s))
  // Date.UTC rolls February 30th over into March.
  if (local.getUTCMonth() !== mo - 1 || local.getUTCDate() !== d) return undefined
  const offset = offsetMinutes(sign, offsetHour, offsetMinute)
  if (offset === undefined) return undefined
  const instantMs = local.getTime() - offset * 60_000
  if (instantMs < earliestMs || instantMs > latestMs) return undefined
  const microseconds = fraction.padEnd(6, '0').slice(0, 6)
  return `${new Date(instantMs).toISOString().slice(0, 19)}.${microseconds}Z`
}

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

/** A date-time as clients see it: RFC 3339 in UTC with milliseconds and `Z` (D1). */
export const formatDateTime = (instant: Date): string => instant.toISOString()
