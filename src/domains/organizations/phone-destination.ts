import type { CallingPolicy } from './calling-policy.ts'
import {
  fictionalCountry,
  rangeProblem,
  type DestinationProblem,
} from '../../numbering/destination-ranges.ts'
import { findPlannedNumber, type PlannedNumber } from '../../numbering/numbering-plan.ts'
import { specialNumberProblem } from '../../numbering/special-numbers.ts'

/**
 * Why this E.164 number can never be dialled under the policy, or undefined if it can. A pure function of its
 * arguments (D9 `unsupported_destination`, D14). Countries are judged by country, not by calling code: +1 876 is
 * Jamaica.
 */
export const destinationProblem = (
  phoneNumber: string,
  { allowedCountries }: Pick<CallingPolicy, 'allowedCountries'>,
): DestinationProblem | undefined => {
  const digits = phoneNumber.slice(1)
  const number = findPlannedNumber(phoneNumber)
  return (
    rangeProblem(digits) ??
    (number?.isPossible && number.number === phoneNumber ? undefined : 'not_possible') ??
    (number?.type === undefined ? specialNumberProblem(digits) : typeProblem(number.type)) ??
    countryProblem(number?.country ?? fictionalCountry(digits), allowedCountries)
  )
}

/** A sentence for the integrator. */
export const describeDestinationProblem = (problem: DestinationProblem): string =>
  sentences[problem]

const typeProblem = (type: NonNullable<PlannedNumber['type']>): DestinationProblem | undefined => {
  switch (type) {
    case 'PREMIUM_RATE':
      return 'premium_rate'
    case 'SHARED_COST':
      return 'shared_cost'
    case 'PERSONAL_NUMBER':
      return 'personal_number'
    case 'PAGER':
      return 'pager'
    case 'UAN':
      return 'corporate_number'
    case 'VOICEMAIL':
      return 'voicemail_access'
    case 'FIXED_LINE':
    case 'FIXED_LINE_OR_MOBILE':
    case 'MOBILE':
    case 'TOLL_FREE':
    case 'VOIP':
      return undefined
  }
}

const countryProblem = (
  country: string | undefined,
  allowed: CallingPolicy['allowedCountries'],
): DestinationProblem | undefined => {
  if (allowed === 'all') return undefined
  if (country === undefined) return 'country_unknown'
  return allowed.includes(country) ? undefined : 'country_not_enabled'
}

const sentences: Readonly<Record<DestinationProblem, string>> = {
  not_possible: 'This is not a possible telephone number.',
  country_not_enabled: 'The organization has not enabled calls to the country of this number.',
  country_unknown:
    'The country of this number cannot be told, so it is not among the enabled ones.',
  premium_rate: 'Premium-rate numbers are never called.',
  shared_cost: 'Shared-cost numbers are never called.',
  personal_number: 'Personal numbers, which forward at any price, are never called.',
  pager: 'Pagers are never called.',
  corporate_number: 'Universal access numbers, which are charged specially, are never called.',
  voicemail_access: 'Voicemail access numbers are never called.',
  satellite: 'Satellite telephones are never called.',
  non_geographic: 'International service numbers that belong to no country are never called.',
  emergency: 'Emergency and special-service numbers are never called.',
}
