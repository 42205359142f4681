const localTime = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
})

/**
 * An instant with this machine's local time, `2026-11-22T15:00:00.000Z (Sun 16:00 CET)`; omitted if the zone is
 * UTC.
 */
export const withLocalTime = (instant: string, format = localTime): string => {
  const parts = format.formatToParts(new Date(instant))
  const part = (type: Intl.DateTimeFormatPartTypes): string =>
    parts.find((each) => each.type === type)?.value ?? ''
  const zone = part('timeZoneName')
  if (zone === 'UTC') return instant
  return `${instant} (${part('weekday')} ${part('hour')}:${part('minute')} ${zone})`
}
