import type { z } from 'zod'
import { isFieldCode, type FieldCode, type FieldProblem } from '../../contract/errors.ts'
import { firstCauses } from '../../contract/first-causes.ts'
import { isStorableText } from '../../contract/text.ts'

/** Longest path told to a caller: an unknown member may have a name of any length. */
const maxPathLength = 256

/** Zod's issues over `input` as the caller is told them (D9). */
export const problemsOf = (
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
): readonly FieldProblem[] => firstCauses(issues).flatMap((issue) => problemsOfIssue(issue, input))

const problemsOfIssue = (issue: z.core.$ZodIssue, input: unknown): FieldProblem[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => problem([...issue.path, key], 'unknown_field'))
    : [problem(issue.path, codeOf(issue, input))]

const codeOf = (issue: z.core.$ZodIssue, input: unknown): FieldCode => {
  // A schema that names its own code puts it into the message.
  if (isFieldCode(issue.message)) return issue.message
  if (isAbsent(issue.path, input)) return 'required'
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
export const unstorableText = (value: unknown): readonly FieldProblem[] =>
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

const findUnstorable = (value: unknown, path: readonly PropertyKey[]): FieldProblem[] => {
  if (typeof value === 'string')
    return isStorableText(value) ? [] : [problem(path, 'invalid_format')]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, at) => findUnstorable(item, [...path, at]))
  return Object.entries(value).flatMap(([key, member]) => [
    ...findUnstorable(key, [...path, key]),
    ...findUnstorable(member, [...path, key]),
  ])
}

/** `a.b[3].c` (D9), cut where it gets too long to be told. */
const problem = (path: readonly PropertyKey[], code: FieldCode): FieldProblem => ({
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
})

const cut = (path: string): string =>
  (path.length > maxPathLength ? `${path.slice(0, maxPathLength - 1)}…` : path).toWellFormed()
