import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, type Queryable } from '../../database/database.ts'

/** Refusals that are grouped, the newest: of more, the older ones are left out. */
const maxGrouped = 10_000
const maxGroups = 50

const groupStatement = list(
  'refusal-store.groupRefusals',
  `select operation, method, error_code,
          -- What was wrong first in the first of them that names something.
          (array_agg(error_fields -> 0 order by at) filter (where error_fields is not null))[1] as first_field,
          count(*)::int as count, count(distinct api_key_id)::int as keys,
          min(at) as first_at, max(at) as last_at,
          (array_agg(id order by at))[1] as first_id,
          (array_agg(id order by at desc))[1] as last_id
     from (select id, at, operation, method, error_code, error_fields, api_key_id
             from api_requests
            where organization_id = $1
              and status >= 400
              and at >= $2::timestamptz
            order by at desc
            limit ${maxGrouped}) as refused
    group by operation, method, error_code
    order by count(*) desc, max(at) desc
    limit ${maxGroups}`,
)

/** Refusals of one operation with one error code. */
interface RefusalGroup {
  readonly operation: string | null
  readonly method: string
  readonly error_code: string | null
  readonly first_field: { readonly path: string; readonly code: string } | null
  readonly count: number
  readonly keys: number
  readonly first_at: Date
  readonly last_at: Date
  readonly first_id: string
  readonly last_id: string
}

/** The refusals since an instant in groups, the largest first. */
export const groupRefusals = (
  db: Queryable,
  organizationId: OrganizationId,
  since: Date,
): Promise<RefusalGroup[]> => db.rows<RefusalGroup>(groupStatement, [organizationId, since])
