import { getCountries } from 'libphonenumber-js/max'

const countries: ReadonlySet<string> = new Set(getCountries())

/** Whether this is the ISO 3166 code, in capitals, of a country or territory with telephone numbers of its own. */
export const isCountry = (code: string): boolean => countries.has(code)
