/**
 * Whether the name is an IANA time zone this machine can resolve. Offsets (`+02:00`) and bare abbreviations are not:
 * Intl takes `EST` for Panama.
 */
export const isTimeZone = (name: string): boolean => {
  if (name === 'UTC') return true
  if (!/^[A-Za-z]+\/[A-Za-z0-9_+/'-]+$/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
