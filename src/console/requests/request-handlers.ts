import { notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { listApiKeyRows } from '../../domains/api-keys/api-key-store.ts'
import { groupRefusals } from '../../domains/requests/refusal-store.ts'
import {
  findRequest,
  listRequestRows,
  type RequestRow,
} from '../../domains/requests/request-store.ts'
import { isUuid } from '../../runtime/ids.ts'
import type { ConsoleHandler } from '../console-handler.ts'
import { curlOf } from './curl-of.ts'

/** A kept request for the dashboard. */
export const requestOf = ({ target_type: type, target_id: id, ...row }: RequestRow) => ({
  id: row.id,
  at: formatDateTime(row.at),
  request_id: row.request_id,
  api_key_id: row.api_key_id,
  method: row.method,
  operation: row.operation,
  path: row.path,
  status: row.status,
  duration_ms: row.duration_ms,
  idempotency: row.idempotency,
  error_code: row.error_code,
  target: type === null || id === null ? null : { type, id },
  made: row.made,
})

/** A class of statuses as filters; refused ones have an index of their own. */
const statusFilters = {
  '2xx': { status_class: 2 },
  '4xx': { is_refused: true, status_class: 4 },
  '5xx': { is_refused: true, status_class: 5 },
  refused: { is_refused: true },
} as const

export const listApiRequests: ConsoleHandler<'listApiRequests'> = async (
  { query: { limit, cursor, status, ...filters } },
  { db, organizationId },
) => {
  const keys = (await listApiKeyRows(db, organizationId)).map(({ id, name }) => ({ id, name }))
  const ids = [filters.api_key_id, filters.target_id]
  if (!ids.every((id) => id === undefined || isUuid(id))) return { data: [], keys, next: null }
  const page = await listRequestRows(db, {
    organizationId,
    limit,
    cursor,
    filters: { ...filters, ...(status && statusFilters[status]) },
  })
  return { data: page.rows.map(requestOf), keys, next: page.next }
}

export const getApiRequest: ConsoleHandler<'getApiRequest'> = async (
  { params: { api_request_id: id } },
  { db, organizationId, parts },
) => {
  const row = isUuid(id) ? await findRequest(db, organizationId, id) : undefined
  if (!row) throw notFound()
  const keys = await listApiKeyRows(db, organizationId)
  return {
    ...requestOf(row),
    error_fields: row.error_fields && row.error_fields.map((field) => ({ ...field })),
    request_body: row.request_body,
    response_body: row.response_body,
    curl: curlOf(parts.apiUrl(), row),
    key_name: keys.find((key) => key.id === row.api_key_id)?.name ?? null,
  }
}

const defaultDays = 7
const dayMs = 86_400_000

export const listRefusals: ConsoleHandler<'listRefusals'> = async (
  { query },
  { db, organizationId, parts },
) => {
  const days = query.days === undefined ? defaultDays : Number(query.days)
  const since = new Date(parts.clock.now().getTime() - days * dayMs)
  const groups = await groupRefusals(db, organizationId, since)
  return {
    data: groups.map((group) => ({
      ...group,
      first_at: formatDateTime(group.first_at),
      last_at: formatDateTime(group.last_at),
    })),
  }
}
