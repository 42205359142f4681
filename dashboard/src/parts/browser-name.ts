const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const

const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** A browser as a person names it: `Firefox on Linux`. One that is not known is shown as it calls itself. */
export const browserName = (userAgent: string | null): string => {
  if (userAgent === null) return 'An unknown browser'
  const browser = browsers.find(([mark]) => userAgent.includes(mark))?.[1]
  const system = systems.find(([mark]) => userAgent.includes(mark))?.[1]
  if (!browser) return userAgent
  return system ? `${browser} on ${system}` : browser
}
