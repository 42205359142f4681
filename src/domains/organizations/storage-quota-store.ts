import { sql, type Queryable } from '../../database/database.ts'
import type { QuotaName, Quotas } from './quotas.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** How many items an organization stores; no count goes beyond its quota. */
export type KeptCounts = Record<QuotaName, number> & { readonly quotas: Partial<Quotas> }

// Each count reads only an index and ends at the quota. Batches that have not ended are few; the two parts of
// `open` do not overlap.
const countStatement = sql(
  'storage-quota-store.countKept',
  `with quota as (
     select o.id,
            o.quotas,
            coalesce((o.quotas ->> 'contacts')::bigint, $2)            as contacts,
            coalesce((o.quotas ->> 'batches')::bigint, $3)             as batches,
            coalesce((o.quotas ->> 'idempotency_answers')::bigint, $4) as idempotency_answers
       from organizations o
      where o.id = $1
   ),
   open as materialized (
     select total_recipients
       from (select b.total_recipients
               from batches b
              where b.organization_id = $1
                and b.status in ('draft', 'scheduled', 'queued', 'in_progress', 'paused')
             union all
             select b.total_recipients
               from batches b
              where b.organization_id = $1
                and b.created_at > now() - interval '24 hours'
                and b.status in ('completed', 'failed', 'cancelled')) as either
      limit (select batches from quota)
   )
   select q.quotas,
          (select count(*)
             from (select from contacts where organization_id = $1 limit (select contacts from quota)) x)::integer
            as contacts,
          (select count(*) from open)::integer as batches,
          (select coalesce(sum(total_recipients), 0) from open)::integer as recipients,
          (select count(*)
             from (select
                     from idempotency_claims
                    where organization_id = $1
                    limit (select idempotency_answers from quota)) x)::integer as idempotency_answers
     from quota q`,
)

/** Throws if there is no such organization. */
export const countKept = async (
  db: Queryable,
  organizationId: OrganizationId,
  defaults: Quotas,
): Promise<KeptCounts> => {
  const counted = await db.row<KeptCounts>(countStatement, [
    organizationId,
    defaults.contacts,
    defaults.batches,
    defaults.idempotency_answers,
  ])
  if (!counted) throw new Error(`There is no organization ${organizationId}.`)
  return counted
}
