/** Why a number is never dialled for an organization, in any state. */
export type DestinationProblem =
  | 'not_possible'
  | 'country_not_enabled'
  | 'country_unknown'
  | 'premium_rate'
  | 'shared_cost'
  | 'personal_number'
  | 'pager'
  | 'corporate_number'
  | 'voicemail_access'
  | 'satellite'
  | 'non_geographic'
  | 'emergency'

/**
 * Ranges that libphonenumber's types do not contain, or only for assigned numbers; a fraudster's range may be
 * unassigned. Prefixes of the number without `+`; `.` stands for any digit. Sources: ITU-T E.164 lists of assigned
 * country codes (global services), the national numbering plans of the named countries.
 */
const ranges: readonly (readonly [DestinationProblem, readonly string[]])[] = [
  ['satellite', ['870', '881', '8821', '88216', '8835']],
  ['non_geographic', ['800', '808', '878', '882', '883', '888']],
  ['premium_rate', ['979']],
  // North America: an area code or exchange of the form N11 leads to emergency and other carrier services.
  ['emergency', ['1.11', '1...911', '44999', '44112', '61000', '61112']],
  // Area code 900, exchange 976, and 700 (services of one's own carrier).
  ['premium_rate', ['1900', '1...976', '1700']],
  [
    'premium_rate',
    ['4490', '4491', '4498', '4487', '33897', '33899', '49900', '39892', '39899', '34803', '34806'],
  ],
  [
    'premium_rate',
    ['34807', '34905', '34907', '41900', '41901', '41906', '43900', '43901', '43930', '43931'],
  ],
  [
    'premium_rate',
    ['31900', '31906', '31909', '61190', '46900', '46939', '46944', '4590', '358600', '358700'],
  ],
  [
    'premium_rate',
    ['3290', '35160', '35164', '48700', '48701', '48703', '420900', '64900', '353151', '353152'],
  ],
  [
    'shared_cost',
    [
      '4484',
      '49180',
      '49137',
      '49138',
      '33810',
      '33811',
      '33820',
      '33821',
      '33825',
      '34901',
      '34902',
    ],
  ],
  [
    'shared_cost',
    [
      '41840',
      '41842',
      '41844',
      '41848',
      '43810',
      '43820',
      '43821',
      '39840',
      '39841',
      '39847',
      '39848',
    ],
  ],
  ['personal_number', ['4470']],
  // Ranges that fraudsters are known to use (premium-rate and service codes of the national plans, with any further
  // digits).
  [
    'premium_rate',
    [
      '8260',
      '55900',
      '55500',
      '971900',
      '9721900',
      '9721919',
      '60600',
      '601600',
      '20900',
      '960900',
    ],
  ],
  ['premium_rate', ['3270', '49118', '43118', '49190']],
  // Area code 600 of Canada: satellite and other services of no place (CNAC).
  ['satellite', ['1600']],
]

/**
 * Reserved for films, documents and tests: they ring no phone and belong to no country, but are often the first
 * number a developer tries. Ofcom's drama numbers; area code 555, which North America assigns to no place.
 */
const fictional: readonly (readonly [string, string])[] = [
  ['GB', '447700900'],
  ['US', '1555'],
]

const beginsWith = (digits: string, prefix: string): boolean =>
  digits.length >= prefix.length &&
  Array.from(prefix).every((character, index) => character === '.' || character === digits[index])

/** The first range that contains the number. `digits`: E.164 without `+`. */
export const rangeProblem = (digits: string): DestinationProblem | undefined =>
  ranges.find(([, prefixes]) => prefixes.some((prefix) => beginsWith(digits, prefix)))?.[0]

/** The country of a fictional number. `digits`: E.164 without `+`. */
export const fictionalCountry = (digits: string): string | undefined =>
  fictional.find(([, prefix]) => beginsWith(digits, prefix))?.[0]
