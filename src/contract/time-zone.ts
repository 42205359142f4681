/**
 * Names of the IANA database without a place. Only these are taken: other bare words that Intl resolves are abbreviations of
 * its own (`BST` for Dhaka). `EST`, `MST` and `HST` are left out although IANA has them: they know no summer time, which
 * nobody who writes them means.
 */
const bareNames: ReadonlySet<string> = new Set(
  (
    'UTC UCT Universal Zulu GMT GMT+0 GMT-0 GMT0 Greenwich CET EET MET WET CST6CDT EST5EDT MST7MDT PST8PDT ' +
    'Cuba Egypt Eire GB GB-Eire Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya Navajo NZ NZ-CHAT ' +
    'Poland Portugal PRC ROC ROK Singapore Turkey W-SU'
  ).split(' '),
)

/**
 * Whether the name is an IANA time zone this machine can resolve. Offsets (`+02:00`) and abbreviations are not: Intl takes
 * `EST` for Panama.
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

// `SystemV/EST5EDT` and its like are of Intl's library, not of IANA.
const isNameOfPlace = (name: string): boolean =>
  /^[A-Za-z]+\/[A-Za-z0-9_+/'-]+$/.test(name) && !/^SystemV\//i.test(name)
