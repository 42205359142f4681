import type { z } from 'zod'
import { firstCauses } from '../../contract/first-causes.ts'
import { plural } from '../../runtime/plural.ts'

/** One problem of an administrator's file: its path and, in a sentence, the problem. */
export interface FileProblem {
  /** `windows[0].end_time`; empty for the document itself. */
  readonly path: string
  readonly message: string
}

/** A refused file. Nothing was changed; `problems` is never empty. */
export class InvalidFileError extends Error {
  override readonly name = 'InvalidFileError'
  readonly problems: readonly FileProblem[]
  readonly lines: readonly string[]

  constructor(problems: readonly FileProblem[]) {
    const lines = problems.map(describeProblem)
    super(lines.join('\n'))
    this.problems = problems
    this.lines = lines
  }
}

/** `windows[0].end_time: It must be later than start_time.` */
const describeProblem = ({ path, message }: FileProblem): string =>
  path === '' ? message : `${path}: ${message}`

/** The checked value, defaults filled in; throws `InvalidFileError` with every problem found. */
export const checkFile = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const problems = fileProblems(schema, value)
  if (problems.length > 0) throw new InvalidFileError(problems)
  return schema.parse(value)
}

/** Every problem that the schema finds, in the order of the schema. */
export const fileProblems = (schema: z.ZodType, value: unknown): FileProblem[] =>
  firstCauses(schema.safeParse(value, { reportInput: true }).error?.issues ?? []).flatMap(
    problemsOfIssue,
  )

/** `['windows', 0, 'end_time']` as `windows[0].end_time`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? String(part) : `${text}.${String(part)}`
  }, '')

const problemsOfIssue = (issue: z.core.$ZodIssue): FileProblem[] => {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: pathText([...issue.path, key]),
      message: 'There is no member of this name.',
    }))
  }
  return [{ path: pathText(issue.path), message: sentenceOf(issue) }]
}

const bound = (origin: string, which: 'least' | 'most', count: number | bigint): string => {
  if (origin === 'string') return `It must be at ${which} ${plural(count, 'character')} long.`
  if (origin === 'array') return `It must have at ${which} ${plural(count, 'item')}.`
  return `It must be at ${which} ${count}.`
}

const names: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const sentenceOf = (issue: z.core.$ZodIssue): string => {
  if (issue.input === undefined && issue.code !== 'custom') return 'It is required.'
  switch (issue.code) {
    case 'invalid_type':
      return `It must be ${names[issue.expected] ?? issue.expected}.`
    case 'too_small':
      return bound(issue.origin, 'least', issue.minimum)
    case 'too_big':
      return bound(issue.origin, 'most', issue.maximum)
    case 'invalid_value':
      return `It must be one of ${issue.values.map((value) => `"${String(value)}"`).join(', ')}.`
    case 'invalid_key':
      return issue.issues[0]?.message ?? issue.message
    case 'custom':
    case 'invalid_format':
    case 'invalid_union':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      // A problem without one of the sentences above brings its own from the schema.
      return issue.message
  }
}
