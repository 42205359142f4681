import type { CountryCode, NumberType } from 'libphonenumber-js/max'
import { phoneMetadata } from './phone-metadata.ts'

/** What the world's numbering plans define for an E.164 number. */
export interface PlannedNumber {
  /**
   * In the plan's own format: the parser also accepts a trunk prefix after the calling code, which no carrier does.
   */
  readonly number: string
  readonly isPossible: boolean
  readonly type: NumberType
  readonly country: string | undefined
}

/** Undefined if the number belongs to no plan. */
export const findPlannedNumber = (phoneNumber: string): PlannedNumber | undefined => {
  if (phoneNumber !== latest.phoneNumber)
    latest = { phoneNumber, planned: readPlannedNumber(phoneNumber) }
  return latest.planned
}

/**
 * A call's number is looked up twice, for its destination and its zones; the lookup costs more than everything else
 * there.
 */
let latest: { readonly phoneNumber: string; readonly planned: PlannedNumber | undefined } = {
  phoneNumber: '',
  planned: undefined,
}

const readPlannedNumber = (phoneNumber: string): PlannedNumber | undefined => {
  const parsed = phoneMetadata().parsePhoneNumberFromString(phoneNumber)
  return (
    parsed && {
      number: parsed.number,
      isPossible: parsed.isPossible(),
      type: parsed.getType(),
      country: parsed.country,
    }
  )
}

/** The country whose prefixes an organization uses to dial: the policy's, else the only one it may call. */
export const homeCountry = ({
  country,
  allowedCountries,
}: {
  readonly country?: string
  readonly allowedCountries: readonly string[] | 'all'
}): CountryCode | undefined => {
  const home =
    country ??
    (allowedCountries !== 'all' && allowedCountries.length === 1 ? allowedCountries[0] : undefined)
  return home !== undefined && phoneMetadata().isSupportedCountry(home) ? home : undefined
}

/** International prefixes that are accepted in addition to the country's own. */
const internationalPrefixes = ['00', '011', '0011', '010', '810']

/**
 * The E.164 number for digits without `+`: as dialled in the country, after an international prefix, or a whole
 * number that lacks its `+`. The first reading that exists in some plan; `undefined` if none can.
 */
export const readDialedNumber = (
  digits: string,
  country: CountryCode | undefined,
): string | undefined => {
  const { parsePhoneNumberFromString } = phoneMetadata()
  const readings = [
    country && parsePhoneNumberFromString(digits, { defaultCountry: country, extract: false }),
    ...internationalPrefixes
      .filter((prefix) => digits.startsWith(prefix))
      .map((prefix) => parsePhoneNumberFromString(`+${digits.slice(prefix.length)}`)),
    digits.startsWith('0') ? undefined : parsePhoneNumberFromString(`+${digits}`),
  ].filter((reading) => reading !== undefined)
  const best =
    readings.find((reading) => reading.getType() !== undefined) ??
    readings.find((reading) => reading.isPossible())
  return best?.number
}
