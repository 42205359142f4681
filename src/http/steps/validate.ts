import { notFound, validationError } from '../../contract/api-error.ts'
import { hasBody, nothing, type Operation } from '../../contract/define-operation.ts'
import type { BrokenRule } from '../../contract/errors.ts'
import type { Position } from '../../contract/paging.ts'
import { isStorableText } from '../../contract/text.ts'
import type { CursorScope, Cursors } from '../cursors.ts'
import { parseQuery } from './parse-query.ts'
import { problemsOf, unstorableText } from './problems.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

interface RawInput {
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  /** Parsed JSON; `undefined` where the operation reads no body. */
  readonly body: unknown
}

/** Input as handlers take it, and what its cursors are bound to. */
export interface ValidInput {
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  readonly cursorScope: CursorScope
}

/**
 * Checks path, query and body against the operation's schemas and decodes the cursor. Throws 404 for a malformed id
 * in the path, else 400 with every problem of query and body (D9).
 */
export const validate = (
  operation: Operation,
  raw: RawInput,
  organizationId: OrganizationId,
  cursors: Cursors,
): ValidInput => {
  const params = validateParams(operation, raw.params)
  const query = validateQuery(operation, raw.query)
  const body = hasBody(operation.method) ? validateBody(operation, raw.body) : noMembers
  const problems = [...query.problems, ...body.problems]
  if (problems.length > 0) throw validationError(problems)
  const cursorScope = { operation, organizationId, params, query: query.value }
  return {
    params,
    query: operation.paged ? withPosition(query.value, cursors, cursorScope) : query.value,
    body: body.value,
    cursorScope,
  }
}

type Members = Record<string, unknown>

interface Checked<Value> {
  readonly value: Value
  readonly problems: readonly BrokenRule[]
}

const noMembers: Checked<Members> = { value: {}, problems: [] }

const validateParams = (operation: Operation, raw: RawInput['params']): Members => {
  if (!operation.path.includes('{')) return {}
  const result = operation.params.safeParse(raw)
  if (!result.success || !Object.values(raw).every(isStorableText)) throw notFound()
  return result.data as Members
}

const validateQuery = (operation: Operation, text: string): Checked<Members> => {
  if (text === '' && operation.query === nothing) return noMembers
  const { values, problems } = parseQuery(text)
  const checked = check(operation.query, values)
  return {
    value: checked.value as Members,
    problems: [...problems, ...checked.problems],
  }
}

const validateBody = (operation: Operation, body: unknown): Checked<unknown> =>
  check(operation.body, body)

const check = (schema: Operation['body'], input: unknown): Checked<unknown> => {
  const result = schema.safeParse(input)
  const unstorable = unstorableText(input)
  if (result.success) return { value: result.data, problems: unstorable }
  const told = new Set(unstorable.map(({ path }) => path))
  const problems = problemsOf(result.error.issues, input).filter(({ path }) => !told.has(path))
  return { value: {}, problems: [...unstorable, ...problems] }
}

const withPosition = (query: Members, cursors: Cursors, scope: CursorScope): Members => {
  const { cursor, ...rest } = query
  const position: Position | undefined =
    typeof cursor === 'string' ? cursors.verify(cursor, scope) : undefined
  return { ...rest, cursor: position }
}
