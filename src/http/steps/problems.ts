import type { z } from 'zod'
import type { BrokenRule, FieldCode } from '../../contract/errors.ts'
import { readRuleMessage } from '../../contract/field-rules.ts'
import { firstCauses } from '../../contract/first-causes.ts'
import { isStorableText } from '../../contract/text.ts'

/** Longest path told to a caller: an unknown member may have a name of any length. */
const maxPathLength = 256

/** Zod's issues over `input` as the caller is told them (D9). */
export const problemsOf = (
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
): readonly BrokenRule[] => firstCauses(issues).flatMap((issue) => problemsOfIssue(issue, input))

const problemsOfIssue = (issue: z.core.$ZodIssue, input: unknown): BrokenRule[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => problem([...issue.path, key], 'unknown_field'))
    : [problemOf(issue, input)]

const problemOf = (issue: z.core.$ZodIssue, input: unknown): BrokenRule => {
  // A schema that names its own code puts it into the message, with the rule.
  const named = readRuleMessage(issue.message)
  if (named) return problem(issue.path, named.code, named.rule)
  if (isAbsent(issue.path, input)) return problem(issue.path, 'required')
  return problem(issue.path, codeOf(issue, input), ruleOf(issue))
}

const codeOf = (issue: z.core.$ZodIssue, input: unknown): FieldCode => {
  switch (issue.code) {
    case 'invalid_type':
      return 'invalid_type'
    case 'too_small':
      return tooSmall[issue.origin] ?? 'too_small'
    case 'too_big':
      return tooBig[issue.origin] ?? 'too_large'
    case 'invalid_value':
      return typeof valueAt(issue.path, input) === 'string' ? 'invalid_enum' : 'invalid_type'
    case 'invalid_format':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return 'invalid_format'
  }
}

/** In words, as the message has it; `undefined` where the code says it all. */
const ruleOf = (issue: z.core.$ZodIssue): string | undefined => {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? issue.expected}`
    case 'too_small':
      return bound(issue.origin, 'least', issue.minimum)
    case 'too_big':
      return bound(issue.origin, 'most', issue.maximum)
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
    case 'invalid_format':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return undefined
  }
}

const typeNames: Partial<Record<string, string>> = {
  string: 'a string',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}

const bound = (origin: string, which: 'least' | 'most', count: number | bigint): string => {
  const plural = Number(count) === 1 ? '' : 's'
  if (origin === 'string') return `must have at ${which} ${count} character${plural}`
  if (origin === 'array') return `must have at ${which} ${count} item${plural}`
  return `must be at ${which} ${count}`
}

const tooSmall: Partial<Record<string, FieldCode>> = {
  string: 'too_short',
  array: 'too_few_items',
}

const tooBig: Partial<Record<string, FieldCode>> = {
  string: 'too_long',
  array: 'too_many_items',
}

// Issues carry no input, and JSON knows no undefined: what is not there was not given.
const isAbsent = (path: readonly PropertyKey[], input: unknown): boolean =>
  valueAt(path, input) === undefined

const valueAt = (path: readonly PropertyKey[], input: unknown): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    input,
  )

/** Strings and member names that PostgreSQL could not keep, each as `invalid_format` (D1). */
export const unstorableText = (value: unknown): readonly BrokenRule[] =>
  isStorable(value) ? [] : findUnstorable(value, [])

/** The usual answer, without the cost of paths. */
const isStorable = (value: unknown): boolean => {
  if (typeof value === 'string') return isStorableText(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isStorable)
  for (const key in value)
    if (!isStorableText(key) || !isStorable(Reflect.get(value, key))) return false
  return true
}

const findUnstorable = (value: unknown, path: readonly PropertyKey[]): BrokenRule[] => {
  if (typeof value === 'string')
    return isStorableText(value) ? [] : [problem(path, 'invalid_format', storableRule)]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, at) => findUnstorable(item, [...path, at]))
  return Object.entries(value).flatMap(([key, member]) => [
    ...findUnstorable(key, [...path, key]),
    ...findUnstorable(member, [...path, key]),
  ])
}

const storableRule = 'must hold no NUL and no half of a surrogate pair'

/** `a.b[3].c` (D9), cut where it gets too long to be told. */
const problem = (path: readonly PropertyKey[], code: FieldCode, rule?: string): BrokenRule => ({
  path: cut(
    path.reduce<string>(
      (text, key) =>
        typeof key === 'number'
          ? `${text}[${key}]`
          : text === ''
            ? String(key)
            : `${text}.${String(key)}`,
      '',
    ),
  ),
  code,
  rule,
})

const cut = (path: string): string =>
  (path.length > maxPathLength ? `${path.slice(0, maxPathLength - 1)}…` : path).toWellFormed()
