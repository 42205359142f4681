import { hasBody, type Operation } from '../define-operation.ts'
import { errorCodes, errorStatuses, type ErrorCode } from '../errors.ts'
import { errorExamples } from './error-examples.ts'
import type { Json, SchemaCollector } from './schemas.ts'

const header = (description: string, schema: Json): Json => ({ description, schema })

const deltaSeconds = { type: 'integer', minimum: 1 }

/** Every header a response may carry. */
export const responseHeaders: Readonly<Record<string, Json>> = {
  'Service-Version': header('The applied version.', { type: 'string', format: 'date' }),
  'X-Request-Id': header('Names this request; quote it when you ask for help.', { type: 'string' }),
  'RateLimit-Limit': header('Requests allowed in the window.', { type: 'integer', minimum: 1 }),
  'RateLimit-Remaining': header('Requests left in it.', { type: 'integer', minimum: 0 }),
  'RateLimit-Reset': header('Seconds until it ends.', deltaSeconds),
  'RateLimit-Policy': header('The bucket, its allowance and its window in seconds.', {
    type: 'string',
    examples: ['"read";q=6000;w=60'],
  }),
  'Retry-After': header('Seconds to wait before a retry.', deltaSeconds),
  'WWW-Authenticate': header('How to authenticate.', { type: 'string', const: 'Bearer' }),
  Allow: header('The methods this path knows.', { type: 'string' }),
  Location: header('The new resource.', { type: 'string', format: 'uri-reference' }),
  'Idempotent-Replayed': header('Present when the answer comes from an earlier request.', {
    type: 'string',
    const: 'true',
  }),
}

/** Headers of one status in addition to those of every response. */
const headersByStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

const standing = ['Service-Version', 'X-Request-Id']
const metered = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy']

/** Every error code of an operation: its own, and those that follow from its parameters (D9). */
export const errorCodesOf = (operation: Operation): readonly ErrorCode[] => [
  'validation_error',
  'unsupported_version',
  'authentication_required',
  'invalid_api_key',
  'api_key_expired',
  'organization_not_enabled',
  'insufficient_scope',
  'method_not_allowed',
  'rate_limit_exceeded',
  'internal_error',
  ...(hasBody(operation.method) ? (['invalid_json', 'request_too_large'] as const) : []),
  ...(operation.idempotency === 'required' ? (['idempotency_key_required'] as const) : []),
  ...(operation.idempotency === 'none'
    ? []
    : (['idempotency_conflict', 'idempotency_in_progress'] as const)),
  ...operation.errors,
]

/** All responses of one operation by status. */
export const responsesOf = (operation: Operation, collector: SchemaCollector): Json => ({
  ...Object.fromEntries(
    operation.statuses.map((status) => [status, successOf(operation, status, collector)]),
  ),
  ...Object.fromEntries(
    [...codesByStatus(operation)].map(([status, codes]) => [
      status,
      status in sharedNames
        ? { $ref: `#/components/responses/${sharedNames[status]}` }
        : errorOf(status, codes),
    ]),
  ),
})

/** Statuses whose responses are the same for every operation. */
const sharedNames: Readonly<Record<number, string>> = {
  401: 'Unauthenticated',
  403: 'Forbidden',
  405: 'MethodNotAllowed',
  413: 'TooLarge',
  429: 'RateLimited',
  500: 'Fault',
  503: 'Unavailable',
}

/** The responses that operations share. */
export const sharedResponses = (): Json =>
  Object.fromEntries(
    Object.entries(sharedNames).map(([status, name]) => [
      name,
      errorOf(Number(status), sharedCodes(Number(status))),
    ]),
  )

const sharedCodes = (status: number): readonly ErrorCode[] =>
  status === 503 ? ['internal_error'] : errorCodes.filter((code) => errorStatuses[code] === status)

const successOf = (operation: Operation, status: number, collector: SchemaCollector): Json => ({
  description: successDescriptions[status],
  headers: headerRefs([
    ...standing,
    ...metered,
    ...(operation.location !== undefined && status !== 200 ? ['Location'] : []),
    ...(operation.idempotency === 'none' ? [] : ['Idempotent-Replayed']),
  ]),
  content: {
    'application/json': {
      schema: collector.schemaOf(operation.response, 'output'),
      example: operation.example,
    },
  },
})

const successDescriptions: Readonly<Record<number, string>> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted into the durable queue.',
}

const codesByStatus = (operation: Operation): ReadonlyMap<number, readonly ErrorCode[]> => {
  const byStatus = Map.groupBy(errorCodesOf(operation), (code) => errorStatuses[code] as number)
  byStatus.set(503, ['internal_error'])
  return new Map([...byStatus].sort(([a], [b]) => a - b))
}

const errorOf = (status: number, codes: readonly ErrorCode[]): Json => ({
  description: errorDescriptions[status],
  headers: headerRefs([
    ...standing,
    // D14: on responses about a known operation to an authenticated caller.
    ...([401, 405, 503].includes(status) ? [] : metered),
    ...(headersByStatus[status] ?? []),
    ...(codes.includes('idempotency_in_progress') ? ['Retry-After'] : []),
  ]),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/ErrorEnvelope' },
      // Keyed by code, so that readers and programs find the codes of this response here.
      examples: Object.fromEntries(codes.map((code) => [code, { value: errorExamples[code] }])),
    },
  },
})

const errorDescriptions: Readonly<Record<number, string>> = {
  400: 'The request is wrong; `details.fields` says where.',
  401: 'No valid API key.',
  403: 'The key or the organization may not do this.',
  404: 'There is no such resource in your organization.',
  405: 'The path knows other methods.',
  409: 'The state of things forbids it.',
  413: 'The raw body is over 1 MiB.',
  429: 'The allowance of the bucket is used up.',
  500: 'A fault of the service.',
  503: 'The service cannot answer for the moment.',
}

const headerRefs = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
