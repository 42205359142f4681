import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'

/** Rows of one day and number: as many calls can end at once without waiting for each other. */
const slots = 4

// In the order of the key, so that two statements never wait for each other in a circle.
const countStatement = sql(
  'count-results.countResults',
  `insert into caller_number_results as r (organization_id, phone_number, day, slot, calls, answered, declined, rejected)
   select c.organization_id, c.caller_id, c.caller_id_day, $3::smallint, count(*),
          count(*) filter (where c.answer_status = 'answered'),
          count(*) filter (where y.sip_status = 603),
          count(*) filter (where y.sip_status in (607, 608))
     from calls c
     left join lateral (select sip_status
                          from call_tries
                         where organization_id = c.organization_id and call_id = c.id
                         order by attempt desc, position desc
                         limit 1) y on true
    where c.organization_id = $1
      and c.id = any($2::uuid[])
      and c.caller_id_day is not null
      and c.dialing_at is not null
    group by 1, 2, 3, 4
    order by 2, 3
   on conflict (organization_id, phone_number, day, slot) do update
      set calls    = r.calls + excluded.calls,
          answered = r.answered + excluded.answered,
          declined = r.declined + excluded.declined,
          rejected = r.rejected + excluded.rejected`,
)

/** Counts calls that have just ended for the numbers that they showed, in the transaction of their end. */
export const countNumberResults = async (
  db: Queryable,
  organizationId: OrganizationId,
  callIds: readonly string[],
): Promise<void> => {
  const [first] = callIds
  if (first === undefined) return
  const slot = Number.parseInt(first.slice(-1), 16) % slots
  await db.run(countStatement, [organizationId, callIds, slot])
}
