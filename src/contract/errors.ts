/**
 * Every error code and its status: the one table (D9). `internal_error` is 503 while the service cannot respond.
 */
export const errorStatuses = {
  validation_error: 400,
  invalid_json: 400,
  unsupported_version: 400,
  idempotency_key_required: 400,
  unsupported_destination: 400,
  authentication_required: 401,
  invalid_api_key: 401,
  api_key_expired: 401,
  organization_not_enabled: 403,
  insufficient_scope: 403,
  resource_not_found: 404,
  method_not_allowed: 405,
  resource_state_conflict: 409,
  contact_identity_conflict: 409,
  idempotency_conflict: 409,
  idempotency_in_progress: 409,
  duplicate_active_run: 409,
  recipient_blocked_by_policy: 409,
  request_too_large: 413,
  rate_limit_exceeded: 429,
  internal_error: 500,
} as const

export type ErrorCode = keyof typeof errorStatuses

/** Codes of the dashboard's server only: no answer of the API has them. */
export const consoleErrorStatuses = {
  /** The session looks at another organization than the one that the asking window shows. */
  organization_changed: 409,
} as const

export type AnyErrorCode = ErrorCode | keyof typeof consoleErrorStatuses

export const errorCodes = Object.keys(errorStatuses) as [ErrorCode, ...ErrorCode[]]

/** The possible errors of one field (D9; `unsupported_destination` by D14). */
export const fieldCodes = [
  'required',
  'unknown_field',
  'invalid_type',
  'too_short',
  'too_long',
  'too_small',
  'too_large',
  'too_few_items',
  'too_many_items',
  'duplicate_item',
  'invalid_format',
  'invalid_enum',
  'invalid_e164',
  'invalid_date_time',
  'invalid_time_zone',
  'invalid_range',
  'invalid_cursor',
  'mutually_exclusive',
  'not_found',
  'no_overlap_with_policy',
  'requires_include',
  'unsupported_destination',
] as const

export type FieldCode = (typeof fieldCodes)[number]

/** One problem: `a.b[3].c` in bodies, the bare name for query parameters, the lower-case name for headers (D9). */
export interface FieldProblem {
  readonly path: string
  readonly code: FieldCode
}

/** A problem with the rule that was broken, for the message: `must be at most 100`. */
export interface BrokenRule extends FieldProblem {
  /** By default the rule of the code. */
  readonly rule?: string | undefined
}

/** Beyond this many problems the list is cut and `truncated` is set (D9). */
export const maxFieldProblems = 50

/** Contains only the keys that apply. */
export interface ErrorDetails {
  readonly fields?: readonly FieldProblem[]
  readonly truncated?: true
  readonly supported_versions?: readonly string[]
  readonly existing_run_id?: string
}
