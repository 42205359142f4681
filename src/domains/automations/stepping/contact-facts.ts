import type { BranchableField } from '../definition.ts'
import { zonesOfNumber } from '../../../numbering/zones-of-number.ts'
import { calleeZones, laneSchedules } from '../../../calling-hours/openings.ts'
import type { CallingPolicy } from '../../organizations/calling-policy.ts'
import {
  describeDestinationProblem,
  destinationProblem,
} from '../../organizations/phone-destination.ts'
import type { ContactFacts } from './run-facts.ts'

/**
 * What the policy means for a contact's number: where and when it may be called, and whether at all. Computed on
 * demand, because parsing a number takes longer than most moves.
 */
export const contactFacts = (
  fields: Readonly<Record<BranchableField, string>>,
  policy: CallingPolicy,
  isOnDoNotCallList: boolean,
): ContactFacts => {
  const zones = once(() => zonesOfNumber(fields.phone_number))
  return {
    fields,
    get blockedBecause() {
      if (isOnDoNotCallList) return 'The number is on the do-not-call list.'
      const problem = destinationProblem(fields.phone_number, policy)
      return problem && describeDestinationProblem(problem)
    },
    get timeZones() {
      return calleeZones(policy, zones())
    },
    get schedules() {
      return laneSchedules(policy, zones())
    },
  }
}

const once = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | undefined
  return () => (made ??= { value: make() }).value
}
