/**
 * Names of the IANA database without a place. Of bare words only these are accepted: the others that Intl resolves
 * are its own abbreviations (`BST` for Dhaka). `EST`, `MST` and `HST` are omitted although IANA has them, because
 * they have no summer time, which their users do not expect.
 */
const bareNames: ReadonlySet<string> = new Set(
  (
    'UTC UCT Universal Zulu GMT GMT+0 GMT-0 GMT0 Greenwich CET EET MET WET CST6CDT EST5EDT MST7MDT PST8PDT ' +
    'Cuba Egypt Eire GB GB-Eire Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya Navajo NZ NZ-CHAT ' +
    'Poland Portugal PRC ROC ROK Singapore Turkey W-SU'
  ).split(' '),
)

/**
 * Whether the name is an IANA time zone that this machine knows. Offsets (`+02:00`) and abbreviations are not: Intl
 * resolves `EST` to Panama.
 */
export const isTimeZone = (name: string): boolean => {
  if (name === 'UTC') return true
  if (!bareNames.has(name) && !isNameOfPlace(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

// `SystemV/EST5EDT` and similar names belong to Intl's library, not to IANA.
const isNameOfPlace = (name: string): boolean =>
  /^[A-Za-z]+\/[A-Za-z0-9_+/'-]+$/.test(name) && !/^SystemV\//i.test(name)
