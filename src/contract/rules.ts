import { z } from 'zod'
import { parseDateTime } from './date-time.ts'
import type { FieldCode } from './errors.ts'
import { ruleMessage } from './field-rules.ts'

/**
 * Which field gets the error of a rule over a whole object, and which error. The rule runs beside the checks of the
 * members (Zod would skip it after a failed one), so that one response names every problem.
 */
export const blame = (path: string, code: FieldCode, rule?: string) => ({
  path: [path],
  error: ruleMessage(code, rule),
  when: ({ value }: z.core.ParsePayload) =>
    typeof value === 'object' && value !== null && !Array.isArray(value),
})

/** For "exactly one of": neither is given → the error is at the first (D14). */
export const hasOneOf =
  (first: string, second: string) =>
  (body: object): boolean =>
    first in body || second in body

/** For "exactly one of": both are given → the error is at the second (D14). */
export const hasNotBoth =
  (first: string, second: string) =>
  (body: object): boolean =>
    !(first in body && second in body)

/** Whether `created_after` is before `created_before`, if both are instants (D1). */
export const isOpenWindow = (query: {
  created_after?: string | undefined
  created_before?: string | undefined
}): boolean => {
  const after = instantOf(query.created_after)
  const before = instantOf(query.created_before)
  // Both are UTC text of one length, so text order is time order.
  return after === undefined || before === undefined || after < before
}

const instantOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? parseDateTime(value) : undefined
