import type { z } from 'zod'

/**
 * Zod's issues without length errors that follow from a wrong type: an empty list instead of text is not also too
 * short.
 */
export const firstCauses = (issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] => {
  const ofOtherType = issues.filter(({ code }) => code === 'invalid_type')
  return ofOtherType.length === 0
    ? issues
    : issues.filter(
        (issue) =>
          (issue.code !== 'too_small' && issue.code !== 'too_big') ||
          !ofOtherType.some(({ path }) => isSamePath(path, issue.path)),
      )
}

const isSamePath = (a: readonly PropertyKey[], b: readonly PropertyKey[]): boolean =>
  a.length === b.length && a.every((part, at) => part === b[at])
