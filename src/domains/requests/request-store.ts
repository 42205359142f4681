import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, lookup, sql, type Queryable } from '../../database/database.ts'
import { newestFirst } from '../../database/newest-first.ts'

/** A request as it is written. */
export interface NewRequestRow {
  readonly organization_id: OrganizationId
  readonly id: string
  readonly at: string
  readonly request_id: string
  readonly api_key_id: string
  readonly method: string
  readonly operation: string | null
  readonly path: string
  readonly status: number
  readonly duration_ms: number
  readonly idempotency: 'new' | 'replayed' | 'refused' | null
  readonly error_code: string | null
  readonly error_fields: unknown
  readonly target_type: string | null
  readonly target_id: string | null
  readonly made: boolean
  readonly request_body: unknown
  readonly response_body: unknown
}

const insertStatement = sql(
  'request-store.insertRequests',
  `insert into api_requests (organization_id, id, at, request_id, api_key_id, method, operation, path, status, duration_ms,
                             idempotency, error_code, error_fields, target_type, target_id, made, request_body,
                             response_body)
   select *
     from json_to_recordset($1::json)
       as r(organization_id uuid, id uuid, at timestamptz, request_id text, api_key_id uuid, method text,
            operation text, path text, status smallint, duration_ms integer, idempotency text, error_code text,
            error_fields json, target_type text, target_id uuid, made boolean, request_body json, response_body json)
       on conflict do nothing`,
)

/** In one statement; for several organizations, because the program itself writes them. */
export const insertRequests = async (
  db: Queryable,
  rows: readonly NewRequestRow[],
): Promise<void> => {
  if (rows.length > 0) await db.run(insertStatement, [JSON.stringify(rows)])
}

/** A request of a list. */
export interface RequestRow {
  readonly id: string
  readonly at: Date
  readonly request_id: string
  readonly api_key_id: string
  readonly method: string
  readonly operation: string | null
  readonly path: string
  readonly status: number
  readonly duration_ms: number
  readonly idempotency: 'new' | 'replayed' | 'refused' | null
  readonly error_code: string | null
  readonly target_type: string | null
  readonly target_id: string | null
  readonly made: boolean
}

const columns = `at, request_id, api_key_id, method, operation, path, status, duration_ms, idempotency, error_code,
       target_type, target_id, made`

/** The requests of an organization, newest first. `outcome` is `refused` for 400 and more. */
export const listRequestRows = newestFirst<
  RequestRow,
  | 'is_refused'
  | 'status_class'
  | 'operation'
  | 'api_key_id'
  | 'error_code'
  | 'target_id'
  | 'created_after'
  | 'created_before'
>({
  name: 'request-store.listRequestRows',
  columns,
  table: 'api_requests',
  sortColumn: 'at',
  filters: {
    is_refused: '?::boolean',
    status_class: 'status / 100 = ?',
    operation: 'operation = ?',
    api_key_id: 'api_key_id = ?',
    error_code: 'error_code = ?',
    target_id: 'target_id = ?',
    created_after: 'at >= ?::timestamptz',
    created_before: 'at < ?::timestamptz',
  },
  ways: [
    { filter: 'target_id', where: 'target_id is not null', isNarrow: true },
    { filter: 'is_refused', where: 'status >= 400' },
    {},
  ],
})

const findStatement = lookup(
  'request-store.findRequest',
  `select id, ${columns}, error_fields, request_body, response_body
     from api_requests
    where organization_id = $1
      and id = $2`,
)

/** A request with its masked bodies. */
export interface RequestDetail extends RequestRow {
  readonly error_fields: readonly { readonly path: string; readonly code: string }[] | null
  readonly request_body: unknown
  readonly response_body: unknown
}

export const findRequest = (
  db: Queryable,
  organizationId: OrganizationId,
  id: string,
): Promise<RequestDetail | undefined> => db.row(findStatement, [organizationId, id])

const findMakerStatement = list(
  'request-store.findMaker',
  `select id, ${columns}
     from api_requests
    where organization_id = $1
      and target_id = any($2::uuid[])
      and target_id is not null
      and made
    order by at
    limit 1`,
)

/** The request that made one of these, if it is still kept. */
export const findMaker = (
  db: Queryable,
  organizationId: OrganizationId,
  targetIds: readonly string[],
): Promise<RequestRow | undefined> => db.row(findMakerStatement, [organizationId, targetIds])

const forgetStatement = sql(
  'request-store.forgetRequests',
  `update api_requests
      set request_body = null, response_body = null
    where organization_id = $1
      and target_id = any($2::uuid[])
      and target_id is not null`,
)

/** The bodies of the requests that made or changed these are gone; that they came remains. */
export const forgetRequests = async (
  db: Queryable,
  organizationId: OrganizationId,
  targetIds: readonly string[],
): Promise<void> => {
  await db.run(forgetStatement, [organizationId, targetIds])
}
