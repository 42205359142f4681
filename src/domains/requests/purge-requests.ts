import { sql, type Queryable } from '../../database/database.ts'

/** Requests of one organization that are kept: of more, the older ones go before their time. */
const maxKeptRequests = 200_000

// Read from the old end of each organization's index: a run that finds nothing costs one probe for each organization.
const expiredStatement = sql(
  'purge-requests.purgeExpired',
  `delete from api_requests r
    using (select o.id as organization_id, e.id
             from organizations o
            cross join lateral (select a.id
                                  from api_requests a
                                 where a.organization_id = o.id
                                   and a.at < now() - make_interval(days => least($2, o.retention_days))
                                 order by a.at, a.id
                                 limit $1) as e
            limit $1) as old
    where r.organization_id = old.organization_id
      and r.id = old.id`,
)

const surplusStatement = sql(
  'purge-requests.purgeSurplus',
  `delete from api_requests r
    using (select o.id as organization_id, e.id
             from organizations o
            cross join lateral (select a.at, a.id
                                  from api_requests a
                                 where a.organization_id = o.id
                                 order by a.at desc, a.id desc
                                offset $2
                                 limit 1) as newest_beyond
            cross join lateral (select b.id
                                  from api_requests b
                                 where b.organization_id = o.id
                                   and (b.at, b.id) <= (newest_beyond.at, newest_beyond.id)
                                 order by b.at, b.id
                                 limit $1) as e
            limit $1) as old
    where r.organization_id = old.organization_id
      and r.id = old.id`,
)

/**
 * Deletes up to `limit` requests older than `days`, or than their organization keeps anything; returns how many. Then
 * those beyond the number that an organization keeps.
 */
export const purgeRequests = async (
  db: Queryable,
  days: number,
  limit: number,
  maxKept = maxKeptRequests,
): Promise<number> => {
  const expired = await db.run(expiredStatement, [limit, days])
  return expired < limit
    ? Math.max(expired, await db.run(surplusStatement, [limit, maxKept]))
    : expired
}
