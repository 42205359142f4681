import { ApiError, invalidField } from '../../contract/api-error.ts'
import type { CallingWindow } from '../../contract/batches.ts'
import { maxFieldProblems, type FieldCode, type FieldProblem } from '../../contract/errors.ts'
import { laneSchedules, nextOpening } from '../../calling-hours/openings.ts'
import { zonesOfNumber } from '../../numbering/zones-of-number.ts'
import type { CallingPolicy } from '../organizations/calling-policy.ts'
import {
  describeDestinationProblem,
  destinationProblem,
} from '../organizations/phone-destination.ts'

/** A recipient's number and its path in the body. */
export interface NamedNumber {
  readonly phoneNumber: string
  /** `recipients[1].phone_number` or `contact_ids[1]`. */
  readonly path: string
}

/** Throws `unsupported_destination` with the path of every number that can never be dialled (D9, D14). */
export const checkDestinations = (numbers: readonly NamedNumber[], policy: CallingPolicy): void => {
  const refused = numbers.flatMap(({ phoneNumber, path }) => {
    const problem = destinationProblem(phoneNumber, policy)
    return problem === undefined ? [] : [{ path, sentence: describeDestinationProblem(problem) }]
  })
  const [first] = refused
  if (!first) return
  const others = refused.length === 1 ? '' : ` There are ${refused.length - 1} more.`
  throw new ApiError(
    'unsupported_destination',
    `${first.path}: ${first.sentence}${others}`,
    fieldDetails(refused, 'unsupported_destination'),
  )
}

/** `details.fields`: beyond 50 the list is cut and `truncated` set (D9). */
export const fieldDetails = (
  places: readonly { readonly path: string }[],
  code: FieldCode,
): { readonly fields: readonly FieldProblem[]; readonly truncated?: true } => ({
  fields: places.slice(0, maxFieldProblems).map(({ path }) => ({ path, code })),
  ...(places.length > maxFieldProblems && { truncated: true as const }),
})

const halfYearMs = 182 * 24 * 3_600_000

/**
 * Throws if the batch's window and the policy never overlap (D5). The error is at the window if no recipient could
 * ever be called, else at the affected recipients, because the policy applies in their zones. Checked from the
 * start of the batch and, for the other half of daylight saving, half a year later.
 */
export const checkOverlap = (
  numbers: readonly NamedNumber[],
  policy: CallingPolicy,
  callingWindow: CallingWindow,
  startMs: number,
): void => {
  const answers = new Map<string, boolean>()
  const canBeCalled = ({ phoneNumber }: NamedNumber): boolean => {
    const zones = zonesOfNumber(phoneNumber)
    const key = zones?.join() ?? ''
    const answer = answers.get(key) ?? overlaps(policy, zones, callingWindow, startMs)
    answers.set(key, answer)
    return answer
  }
  const unreachable = numbers.filter((number) => !canBeCalled(number))
  if (unreachable.length === 0) return
  if (unreachable.length === numbers.length) {
    throw invalidField('calling_window', 'no_overlap_with_policy')
  }
  throw new ApiError(
    'validation_error',
    'The calling window and your organization’s policy never overlap where some recipients are.',
    fieldDetails(unreachable, 'no_overlap_with_policy'),
  )
}

const overlaps = (
  policy: CallingPolicy,
  zones: readonly string[] | undefined,
  callingWindow: CallingWindow,
  startMs: number,
): boolean => {
  const schedules = laneSchedules(policy, zones, callingWindow)
  return [startMs, startMs + halfYearMs].some(
    (fromMs) => nextOpening(schedules, fromMs) !== undefined,
  )
}
