import { sql, type Database } from '../database/database.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

/** Lanes of numbers inspected in one sweep; the next one continues after the last of them. */
const maxLanesPerSweep = 1_000

// Skips through the index of parked calls, one probe for each lane of each number, however many calls wait in it.
const findStatement = sql(
  'forgotten-numbers.find',
  `with recursive parked (organization_id, phone_number, lane_id, looked_at) as (
     (select c.organization_id, c.phone_number, c.lane_id, 1
        from calls c
       where c.status = 'queued'
         and c.wait_reason = 'number_in_use'
         and (c.organization_id, c.phone_number, c.lane_id) > ($1::uuid, $2::text, $3::uuid)
       order by c.organization_id, c.phone_number, c.lane_id
       limit 1)
      union all
     (select n.organization_id, n.phone_number, n.lane_id, p.looked_at + 1
        from parked p
       cross join lateral (
         select c.organization_id, c.phone_number, c.lane_id
           from calls c
          where c.status = 'queued'
            and c.wait_reason = 'number_in_use'
            and (c.organization_id, c.phone_number, c.lane_id) > (p.organization_id, p.phone_number, p.lane_id)
          order by c.organization_id, c.phone_number, c.lane_id
          limit 1) n
       where p.looked_at < ${maxLanesPerSweep})
   )
   select p.organization_id, p.phone_number, p.lane_id,
          not exists (select from calls h
                       where h.organization_id = p.organization_id
                         and h.phone_number = p.phone_number
                         and h.lease_token is not null)
          and not exists (select from calls f
                           where f.organization_id = p.organization_id
                             and f.phone_number = p.phone_number
                             and f.lane_id = p.lane_id
                             and f.status = 'queued'
                             and f.number_next) as is_forgotten
     from parked p
    order by p.looked_at`,
)

// The organization first, as everywhere: every transaction locks it before calls.
const letGoStatement = sql(
  'forgotten-numbers.letGo',
  `with woken as materialized (
     select wake_organization($1) as is_known
   )
   select let_next_of_number_go($1, $2)
     from woken
    where is_known`,
)

interface ParkedRow {
  readonly organization_id: OrganizationId
  readonly phone_number: string
  readonly lane_id: string
  readonly is_forgotten: boolean
}

const fromTheStart = [
  '00000000-0000-0000-0000-000000000000',
  '',
  '00000000-0000-0000-0000-000000000000',
]

/**
 * Releases parked calls to a number that no call holds. They remain when another transaction had locked the next
 * call at the release and was then rolled back, for example by a kill. Returns how many numbers.
 */
export const createNumberSweep = (database: Database): (() => Promise<number>) => {
  let behind = fromTheStart
  return async () => {
    const rows = await database.rows<ParkedRow>(findStatement, behind)
    const last = rows.at(-1)
    behind =
      last && rows.length === maxLanesPerSweep
        ? [last.organization_id, last.phone_number, last.lane_id]
        : fromTheStart
    const forgotten = new Map<string, ParkedRow>()
    for (const row of rows)
      if (row.is_forgotten) forgotten.set(`${row.organization_id} ${row.phone_number}`, row)
    for (const row of forgotten.values())
      await database.run(letGoStatement, [row.organization_id, row.phone_number])
    return forgotten.size
  }
}
