import type { CountryCode } from 'libphonenumber-js/max'
import { phoneMetadata } from './phone-metadata.ts'

/** Whether numbers without a country can be read as numbers of this one: an ISO 3166 code such as `US`. */
export const isNumberedCountry = (text: string): text is CountryCode =>
  phoneMetadata().isSupportedCountry(text)

/** Longer texts are not telephone numbers in any notation. */
const maxCharacters = 60

/**
 * Converts a number in the notation of `country` to E.164: `(202) 555-0100`, `011 44 20 …`, `+1 202-555-0100`.
 * Undefined if it cannot be one; then the text itself is judged.
 */
export const toE164 = (text: string, country: CountryCode): string | undefined => {
  if (text.length > maxCharacters) return undefined
  const number = phoneMetadata().parsePhoneNumberFromString(text, {
    defaultCountry: country,
    extract: false,
  })
  return number?.isPossible() && number.ext === undefined ? number.number : undefined
}

/** The number as it is dialled inside its country, digits only: `02079460000`, `2025550100`. Undefined: not possible. */
export const nationalDigits = (number: string): string | undefined =>
  phoneMetadata().parsePhoneNumberFromString(number)?.formatNational().replace(/\D/g, '')
