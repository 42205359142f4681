import {
  consoleErrorStatuses,
  errorStatuses,
  maxFieldProblems,
  type BrokenRule,
  type AnyErrorCode,
  type ErrorDetails,
  type FieldCode,
} from './errors.ts'
import { fieldRules } from './field-rules.ts'

interface ApiErrorOptions {
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** Goes to the log only. */
  readonly cause?: unknown
}

const statuses = { ...errorStatuses, ...consoleErrorStatuses }

/** An error for the API client: the message is written for the integrator and contains no internals (D9). */
export class ApiError extends Error {
  readonly code: AnyErrorCode
  readonly status: number
  readonly details: ErrorDetails | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: AnyErrorCode,
    message: string,
    details?: ErrorDetails,
    options: ApiErrorOptions = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = statuses[code]
    this.details = details
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** A `validation_error` over these problems; beyond 50 the list is cut and `truncated` set (D9). */
export const validationError = (problems: readonly BrokenRule[]): ApiError =>
  new ApiError('validation_error', describe(problems), {
    fields: problems.slice(0, maxFieldProblems).map(({ path, code }) => ({ path, code })),
    ...(problems.length > maxFieldProblems ? { truncated: true as const } : {}),
  })

/** A `validation_error` over one field. */
export const invalidField = (path: string, code: FieldCode, rule?: string): ApiError =>
  validationError([{ path, code, rule }])

/** 404 for the resource named in a path. */
export const notFound = (): ApiError =>
  new ApiError('resource_not_found', 'There is no such resource in your organization.')

/** 404 for an id in the body: `details.fields` names it (D9). */
export const notFoundInBody = (path: string): ApiError =>
  new ApiError('resource_not_found', `${path} names nothing in your organization.`, {
    fields: [{ path, code: 'not_found' }],
  })

/** Further problems are counted in the message; `details.fields` has them all. */
const maxListed = 5

/** `limit must be at most 100.` */
const describe = (problems: readonly BrokenRule[]): string => {
  if (problems.length === 0) return 'The request is not valid.'
  const listed = problems.slice(0, maxListed).map(sentenceOf)
  const others = problems.length - listed.length
  return `${listed.join('; ')}${others === 0 ? '' : `; and ${others} more`}.`
}

const sentenceOf = ({ path, code, rule = fieldRules[code] }: BrokenRule): string =>
  `${path === '' ? 'The body' : path} ${rule}`
