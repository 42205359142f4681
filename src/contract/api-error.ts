import {
  errorStatuses,
  maxFieldProblems,
  type ErrorCode,
  type ErrorDetails,
  type FieldCode,
  type FieldProblem,
} from './errors.ts'

interface ApiErrorOptions {
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** Goes to the log only. */
  readonly cause?: unknown
}

/** Something the caller is told: the message is written for the integrator and holds no internals (D9). */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: ErrorDetails | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    details?: ErrorDetails,
    options: ApiErrorOptions = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = errorStatuses[code]
    this.details = details
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** A `validation_error` over these problems; the 51st is cut and `truncated` set (D9). */
export const validationError = (problems: readonly FieldProblem[]): ApiError =>
  new ApiError('validation_error', describe(problems), {
    fields: problems.slice(0, maxFieldProblems),
    ...(problems.length > maxFieldProblems ? { truncated: true as const } : {}),
  })

/** A `validation_error` over one field. */
export const invalidField = (path: string, code: FieldCode): ApiError =>
  validationError([{ path, code }])

/** 404 for the resource a path names. */
export const notFound = (): ApiError =>
  new ApiError('resource_not_found', 'There is no such resource in your organization.')

/** 404 for an id in the body: `details.fields` names it (D9). */
export const notFoundInBody = (path: string): ApiError =>
  new ApiError('resource_not_found', `${path} names nothing in your organization.`, {
    fields: [{ path, code: 'not_found' }],
  })

const describe = (problems: readonly FieldProblem[]): string => {
  const [first] = problems
  if (!first) return 'The request is not valid.'
  const where = first.path === '' ? 'the body' : first.path
  const others = problems.length === 1 ? '' : `, and ${problems.length - 1} more`
  return `The request is not valid: ${where} (${first.code})${others}.`
}
