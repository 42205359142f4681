import { z } from 'zod'
import { parseDateTime } from './date-time.ts'
import type { FieldCode } from './errors.ts'
import { ruleMessage } from './field-rules.ts'

/**
 * Says which field a rule over a whole object blames, and how. The rule runs beside the checks of the members (Zod
 * would skip it after a failed one), so that one answer names every problem.
 */
export const blame = (path: string, code: FieldCode, rule?: string) => ({
  path: [path],
  error: ruleMessage(code, rule),
  when: ({ value }: z.core.ParsePayload) =>
    typeof value === 'object' && value !== null && !Array.isArray(value),
})

/** For "exactly one of": neither is given → blame the first (D14). */
export const hasOneOf =
  (first: string, second: string) =>
  (body: object): boolean =>
    first in body || second in body

/** For "exactly one of": both are given → blame the second (D14). */
export const hasNotBoth =
  (first: string, second: string) =>
  (body: object): boolean =>
    !(first in body && second in body)

/** Whether `created_after` lies before `created_before`, where both are instants (D1). */
export const isOpenWindow = (query: {
  created_after?: string | undefined
  created_before?: string | undefined
}): boolean => {
  const after = instantOf(query.created_after)
  const before = instantOf(query.created_before)
  // Both are UTC text of one length, so their order is that of time.
  return after === undefined || before === undefined || after < before
}

const instantOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? parseDateTime(value) : undefined
