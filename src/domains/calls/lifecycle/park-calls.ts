import { sql, type Queryable } from '../../../database/database.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'

/** Calls of one lane inspected in one statement. */
const maxLookedAt = 500

// Never waits. FOR SHARE on the call that holds the number: meanwhile that call cannot release the number, and when
// it does so afterwards it sees the parked calls. A holder that is releasing at this moment is skipped, and so are
// the calls that would wait for it: they are claimed next.
const parkStatement = sql(
  'park-calls.park',
  `with waiting as materialized (
     select q.id, q.phone_number
       from unnest($2::uuid[]) as l (id)
      cross join lateral (
        select c.id, c.phone_number
          from calls c
         where c.organization_id = $1
           and c.lane_id = l.id
           and c.status = 'queued'
           and c.lease_token is null
           and c.not_before <= clock_timestamp()
         order by c.not_before, c.id
         limit ${maxLookedAt}
      ) q
      where q.phone_number <> ''
   ),
   holders as materialized (
     select c.phone_number
       from (select distinct phone_number from waiting) w
       join calls c on c.organization_id = $1 and c.phone_number = w.phone_number
      where c.lease_token is not null
        for share of c skip locked
   ),
   held as materialized (
     select c.id
       from waiting w
       join calls c on c.organization_id = $1 and c.id = w.id
      where w.phone_number in (select phone_number from holders)
        and c.status || '' = 'queued'
        and c.lease_token is null
        and c.not_before <= clock_timestamp()
        for no key update of c skip locked
   )
   update calls c
      set not_before  = 'infinity',
          wait_reason = 'number_in_use',
          number_next = false
     from held h
    where c.organization_id = $1
      and c.id = h.id`,
)

/**
 * Parks calls whose numbers are in use, some hundreds at once, out of the way of the others in these lanes, without
 * holding the route. The release of the number releases them (migrations/0152-one-call-per-number.sql). Returns how
 * many.
 */
export const parkCalls = (
  db: Queryable,
  organizationId: OrganizationId,
  laneIds: readonly string[],
): Promise<number> => db.run(parkStatement, [organizationId, laneIds])
