import { phoneMetadata } from './phone-metadata.ts'

/** Codes that networks route to an emergency service in many countries, whatever their own code is. */
const everywhere = ['000', '110', '112', '119', '911', '999']

/** Further codes of police, fire service and ambulance (ITU-T national numbering plans). */
const byCountry: Readonly<Record<string, string>> = {
  AE: '996 997 998',
  AL: '126 127 128 129',
  AR: '100 101 103 106 107',
  AT: '122 133 140 144 147',
  AU: '106',
  BA: '122 123 124',
  BE: '100 101',
  BG: '150 160 166',
  BR: '190 191 192 193 194 197 198 199',
  BY: '101 102 103 104',
  CA: '988',
  CH: '117 118 143 144 147 1414',
  CL: '130 131 132 133 134',
  CN: '120 122',
  CO: '123 125 132',
  CZ: '150 155 156 158',
  DK: '114',
  DZ: '14 17 1021',
  EG: '122 123 180',
  ES: '061 062 080 085 088 091 092',
  ET: '907 939 991',
  FR: '15 17 18 114 115 191 196 197',
  GB: '18000 101 105 111',
  GH: '191 192 193',
  GR: '100 108 166 199',
  HK: '992',
  HR: '192 193 194 195',
  HU: '104 105 107',
  ID: '113 118',
  IL: '100 101 102',
  IN: '100 101 102 108',
  IT: '113 114 115 118',
  JP: '118',
  KR: '117 118 122',
  KZ: '101 102 103 104',
  LB: '125 140 175',
  LK: '118 1990',
  LU: '113',
  LV: '113',
  MA: '15 19 150 177',
  MX: '060 065 066 068',
  MY: '991 994',
  NG: '199 767',
  NO: '113',
  NP: '100 101 102',
  NZ: '111',
  OM: '9999',
  PE: '105 106 116 117',
  PH: '117',
  PK: '15 16 115 1122',
  PL: '997 998',
  RS: '192 193 194',
  RU: '101 102 103 104',
  SA: '993 996 997 998',
  SG: '993 995',
  SI: '113',
  SK: '150 155 158 159',
  TH: '191 199 1155 1669',
  TN: '190 197 198',
  TR: '155 156 158 177',
  UA: '101 102 103 104',
  US: '933 988',
  VN: '113 114 115',
  ZA: '107 10111 10177',
}

/** Prefixes that switches remove before a code: outside lines, national and international prefixes. */
const prefixes = ['0', '1', '8', '9', '00', '011', '0011', '010']
/** An outside line, an international prefix and a calling code. */
const maxPrefixes = 3
/** The longest code plus all prefixes; longer digits are judged as a number. */
const maxDigits = 12

export interface EmergencyCode {
  readonly code: string
  /** ISO 3166; undefined where the code is an emergency code in many countries. */
  readonly country: string | undefined
}

/**
 * The emergency code that these digits reach, with any prefixes; undefined if they reach none. The codes are those
 * known everywhere and those of all countries that the organization may call, because the trunk may be in any of
 * them.
 */
export const findEmergencyCode = (
  digits: string,
  {
    allowedCountries,
    country,
  }: { readonly allowedCountries: readonly string[] | 'all'; readonly country?: string },
): EmergencyCode | undefined => {
  if (digits.length > maxDigits) return undefined
  const countries =
    allowedCountries === 'all'
      ? Object.keys(byCountry)
      : [...allowedCountries, ...(country === undefined ? [] : [country])]
  const codes = new Map<string, string | undefined>()
  for (const each of countries)
    for (const code of byCountry[each]?.split(' ') ?? []) codes.set(code, codes.get(code) ?? each)
  for (const code of everywhere) codes.set(code, undefined)
  const callingCodes = countries.flatMap(callingCodeOf)
  const removable = [...new Set([...prefixes, ...callingCodes])]
  const code = behindPrefixes(digits, removable).find((rest) => codes.has(rest))
  return code === undefined ? undefined : { code, country: codes.get(code) }
}

const callingCodeOf = (country: string): string[] => {
  const { getCountryCallingCode, isSupportedCountry } = phoneMetadata()
  return isSupportedCountry(country) ? [getCountryCallingCode(country)] : []
}

/**
 * The digits, and their remainder after up to three prefixes. Codes of two digits are matched only without
 * prefixes.
 */
const behindPrefixes = (digits: string, removable: readonly string[]): string[] => {
  const found = new Set([digits])
  let latest = [digits]
  for (let count = 0; count < maxPrefixes; count += 1) {
    latest = latest.flatMap((rest) =>
      removable
        .filter((prefix) => rest.startsWith(prefix) && rest.length - prefix.length >= 3)
        .map((prefix) => rest.slice(prefix.length)),
    )
    for (const rest of latest) found.add(rest)
  }
  return [...found]
}
