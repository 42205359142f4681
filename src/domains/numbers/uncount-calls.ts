import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'

// In the order of the key, so that two statements never wait for each other in a circle.
const uncountStatement = sql(
  'uncount-calls.uncount',
  `with held as (
     select caller_id, caller_id_day, count(*)::integer as calls
       from calls
      where organization_id = $1
        and id = any($2::uuid[])
        and caller_id_day is not null
        and dialing_at is null
      group by 1, 2
   ),
   locked as materialized (
     select d.phone_number, d.day, h.calls
       from held h
       join caller_number_days d
         on d.organization_id = $1 and d.phone_number = h.caller_id and d.day = h.caller_id_day
      order by d.phone_number, d.day
        for no key update of d
   )
   update caller_number_days d
      set calls = d.calls - l.calls
     from locked l
    where d.organization_id = $1
      and d.phone_number = l.phone_number
      and d.day = l.day`,
)

/** Calls that were given a number and ended without being dialled count for it no longer. */
export const uncountCalls = async (
  db: Queryable,
  organizationId: OrganizationId,
  callIds: readonly string[],
): Promise<void> => {
  if (callIds.length > 0) await db.run(uncountStatement, [organizationId, callIds])
}
