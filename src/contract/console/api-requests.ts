import { z } from 'zod'
import { op } from '../define-operation.ts'
import { count, dateTime, opaqueId, text } from '../fields.ts'
import { createdFilters, listOf, listPaging } from '../paging.ts'
import { blame, isOpenWindow } from '../rules.ts'
import { reads } from './least-role.ts'

/** A request of the API by a key; what is of people is masked before it is stored. */
export const listedRequest = z.strictObject({
  id: opaqueId,
  at: dateTime,
  request_id: z.string(),
  api_key_id: opaqueId,
  method: z.string(),
  /** Null: the path led to no operation. */
  operation: z.string().nullable(),
  path: z.string(),
  status: z.int(),
  duration_ms: count,
  /** Null: the request had no Idempotency-Key. */
  idempotency: z.enum(['new', 'replayed', 'refused']).nullable(),
  error_code: z.string().nullable(),
  target: z.strictObject({ type: z.string(), id: opaqueId }).nullable(),
  /** Whether the request made its target. */
  made: z.boolean(),
})

const key = z.strictObject({ id: opaqueId, name: z.string() })
const field = z.strictObject({ path: z.string(), code: z.string() })

const request = listedRequest.extend({
  error_fields: z.array(field).nullable(),
  request_body: z.unknown(),
  response_body: z.unknown(),
  /** The request as a command: its key is a variable of the shell, what was masked stays masked. */
  curl: z.string(),
  key_name: z.string().nullable(),
})

const filters = z
  .strictObject({
    ...listPaging,
    status: z.enum(['2xx', '4xx', '5xx', 'refused']).optional(),
    operation: text(1, 100).optional(),
    api_key_id: opaqueId.optional(),
    error_code: text(1, 100).optional(),
    target_id: opaqueId.optional(),
    ...createdFilters,
  })
  .refine(
    isOpenWindow,
    blame('created_before', 'invalid_range', 'must be later than created_after'),
  )

const refusals = z.strictObject({
  operation: z.string().nullable(),
  method: z.string(),
  error_code: z.string().nullable(),
  /** What was wrong first in the first of them that names a field. */
  first_field: field.nullable(),
  count,
  /** Keys that met it. */
  keys: count,
  first_at: dateTime,
  last_at: dateTime,
  first_id: opaqueId,
  last_id: opaqueId,
})

/** Days that refusals are grouped over. */
const days = z.string().regex(/^(?:[1-9]|[12]\d|30)$/)

/** What programs asked of the API. */
export const apiRequestOperations = {
  listApiRequests: op('GET /console/api-requests', {
    ...reads('viewer'),
    query: filters,
    response: listOf(listedRequest).extend({
      /** The organization's keys, also revoked ones. */
      keys: z.array(key),
    }),
    paged: true,
  }),
  listRefusals: op('GET /console/api-requests/refusals', {
    ...reads('viewer'),
    query: z.strictObject({ days: days.optional() }),
    response: z.strictObject({ data: z.array(refusals) }),
  }),
  getApiRequest: op('GET /console/api-requests/{api_request_id}', {
    ...reads('viewer'),
    params: z.strictObject({ api_request_id: opaqueId }),
    response: request,
    errors: ['resource_not_found'],
  }),
} as const
