import { sql } from '../../database/database.ts'
import { leaseCallsFragment } from '../../domains/calls/lifecycle/lease-calls.ts'

/* The statements of claim-calls.ts that carry its design; that file describes how they work together. */

// Settings for this transaction alone. A crash of the database may lose the last claims completely: those calls
// wait again, and their holder fails at the gate, whose own commit is durable; so a claim need not wait for the
// disk. Planning the claim takes longer than running it, and all values have one plan, so it is planned once, from
// the statistics at that time: none, in a new installation. Therefore the settings leave only the intended plan:
// everything is found by an index, row by row, and ordered rows are read from the index with that order. Scans of
// whole tables, hash and merge joins are off in every connection of the pool (src/database/open-database.ts).
export const claimSettings = `set_config('synchronous_commit', 'off', true),
          set_config('plan_cache_mode', 'force_generic_plan', true),
          set_config('enable_bitmapscan', 'off', true),
          set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)`

/** Lanes inspected for one organization in one claim; the next claim continues after the last of them. */
export const maxLanesPerClaim = 256

/** Before every lane. */
const noLane = `'00000000-0000-0000-0000-000000000000'::uuid`

/**
 * How many calls of the organization are live. In the order of calls_live: a claim may not sort, so this is the
 * only usable index, even if the planner's row estimates are those of a small table.
 */
const liveFragment = `(select count(*)
                               from (select
                                       from calls l
                                      where l.organization_id = d.organization_id
                                        and l.lease_token is not null
                                      order by l.phone_number) as live)`

/**
 * The lanes of `from` with a waiting call, from `lane_cursor` on: one index probe each, however many calls wait in
 * them. A row without a lane means that there are no more.
 */
const occupiedFragment = (
  from: string,
): string => `occupied (organization_id, lane_id, looked_at) as (
     select c.organization_id,
            (select q.lane_id from calls q
              where q.organization_id = c.organization_id and q.status = 'queued' and q.lease_token is null
                and q.lane_id > c.lane_cursor
              order by q.lane_id limit 1),
            1
       from ${from} c
      where c.room > 0
      union all
     select p.organization_id,
            (select q.lane_id from calls q
              where q.organization_id = p.organization_id and q.status = 'queued' and q.lease_token is null
                and q.lane_id > p.lane_id
              order by q.lane_id limit 1),
            p.looked_at + 1
       from occupied p
      where p.lane_id is not null
        and p.looked_at < ${maxLanesPerClaim}
   ),
   cut as (
     select organization_id, lane_id
       from occupied
      where looked_at = ${maxLanesPerClaim}
        and lane_id is not null
   )`

export const claimStatement = sql(
  'claim-calls.claim',
  `with recursive chosen as materialized (
     select d.organization_id, d.lane_virtual_time, d.lane_cursor,
            greatest(d.virtual_time, $5::bigint) as start,
            -- Below zero after an edit: live calls may be more than the concurrency.
            greatest(0, least($3::bigint, o.concurrency - ${liveFragment})) as room
       from dispatch_organizations d
       join organizations o on o.id = d.organization_id
      where d.organization_id = any($1::uuid[])
   ),
   ${occupiedFragment('chosen')},
   -- Organizations whose lanes are looked at in parts: whatever is not found now may be in another part.
   in_parts as (
     select c.organization_id, coalesce(t.lane_id, ${noLane}) as lane_cursor
       from chosen c
       left join cut t on t.organization_id = c.organization_id
      where t.lane_id is not null
         or c.lane_cursor > ${noLane}
   ),
   looked_at as (
     select organization_id, lane_id
       from occupied
      union
     -- Immediate calls go first, in whichever part their lanes are.
     select l.organization_id, l.id
       from in_parts i
       join lanes l on l.organization_id = i.organization_id and l.source_id = i.organization_id
   ),
   open_lanes as materialized (
     select l.organization_id, l.id, l.source_id, l.rank, c.room,
            max(greatest(l.virtual_time, c.lane_virtual_time)) over source as start,
            min(l.source_id::text) over sources <> max(l.source_id::text) over sources as is_contested
       from looked_at p
       join lanes l  on l.organization_id = p.organization_id and l.id = p.lane_id
       join chosen c on c.organization_id = p.organization_id
      where not l.paused
        and l.opens_at <= statement_timestamp()
        and l.closes_at > statement_timestamp()
     window source as (partition by l.organization_id, l.rank, l.source_id),
            sources as (partition by l.organization_id, l.rank)
   ),
   due as (
     select l.organization_id, l.rank, l.source_id, l.start, l.room, q.id, q.not_before
       from open_lanes l
      cross join lateral (
        select c.id, c.not_before
          from calls c
         where c.organization_id = l.organization_id
           and c.lane_id = l.id
           and c.status = 'queued'
           and c.lease_token is null
           and c.not_before <= statement_timestamp()
         order by c.not_before, c.id
         limit l.room
      ) q
   ),
   tagged as (
     select d.*, d.start + row_number() over (partition by organization_id, rank, source_id
                                                  order by not_before, id) as tag
       from due d
   ),
   ranked as (
     select t.*, row_number() over (partition by organization_id order by rank, tag, not_before, id) as place
       from tagged t
   ),
   taken as (
     select r.organization_id, r.id, r.rank, r.source_id, r.place
       from ranked r
       join chosen c on c.organization_id = r.organization_id
      where r.place <= r.room
      order by c.start + r.place, r.organization_id, r.place
      limit $2
   ),
   held as (
     -- A row that is being cancelled at this moment is left alone: claiming waits for nobody.
     select q.ctid as row_place, q.organization_id, q.id, q.phone_number, q.lane_id, t.rank, t.source_id, t.place
       from taken t
       join calls q on q.organization_id = t.organization_id and q.id = t.id
      -- In words that are the predicate of no index: the row is found by its id, not by walking the queue.
      where q.status || '' = 'queued'
        and q.lease_token is null
        for no key update of q skip locked
   ),
   -- The number of a claimed call is nobody else's until that call has ended or is let go (D3). Of several calls to one
   -- number the first is taken. The others are parked afterwards (park-calls.ts).
   first_of_number as materialized (
     select h.*,
            h.phone_number = ''
            or (row_number() over (partition by h.organization_id, h.phone_number order by h.place) = 1
                and not exists (select from calls x
                                 where x.organization_id = h.organization_id
                                   and x.phone_number = h.phone_number
                                   and x.lease_token is not null)) as is_free
       from held h
   ),
   leased as (
     ${leaseCallsFragment({ from: 'first_of_number', nodeId: '$4', route: '$6' })}
   ),
   served as (
     select organization_id, count(*) as calls
       from leased
      group by organization_id
   ),
   served_sources as (
     select l.organization_id, l.source_id, count(distinct l.id) as calls, min(o.start) as start
       from leased l
       join open_lanes o on o.organization_id = l.organization_id and o.rank = l.rank
                        and o.source_id = l.source_id
      where o.is_contested
      group by l.organization_id, l.source_id
   ),
   lane_clocks as (
     update lanes l
        set virtual_time = s.start + s.calls
       from served_sources s
      where l.organization_id = s.organization_id
        and l.source_id = s.source_id
   ),
   organization_clocks as (
     update dispatch_organizations d
        set virtual_time      = case when s.calls is null then d.virtual_time else c.start + s.calls end,
            lane_virtual_time = greatest(d.lane_virtual_time,
                                         (select min(start) from served_sources f
                                           where f.organization_id = d.organization_id)),
            exhausted         = i.organization_id is null and coalesce(s.calls, 0) < $3,
            lane_cursor       = coalesce(i.lane_cursor, ${noLane})
       from chosen c
       left join served s   on s.organization_id = c.organization_id
       left join in_parts i on i.organization_id = c.organization_id
      where d.organization_id = c.organization_id
   ),
   route_clock as (
     update routes
        set tokens       = tokens - (select count(*) from leased),
            virtual_time = greatest(virtual_time, (select min(c.start) from chosen c join served using (organization_id)))
      where name = $6
   )
   select organization_id, id, lease_token, null::uuid as crowded_lane_id
     from leased
    union all
   select distinct organization_id, null::uuid, null::uuid, lane_id
     from first_of_number
    where not is_free`,
)

export const lockExhaustedStatement = sql(
  'claim-calls.lockExhausted',
  `with settings as materialized (select ${claimSettings})
   update dispatch_organizations
      set settling_token = $2
     from settings
    where organization_id in (select organization_id
                                from dispatch_organizations
                               where organization_id = any($1::uuid[])
                                 and exhausted
                                 for update skip locked)`,
)

export const settleStatement = sql(
  'claim-calls.settle',
  `with recursive settling as materialized (
     select d.organization_id, ${noLane} as lane_cursor,
            o.concurrency - ${liveFragment} as room
       from dispatch_organizations d
       join organizations o on o.id = d.organization_id
      where d.organization_id = any($1::uuid[])
        and d.settling_token = $2
   ),
   ${occupiedFragment('settling')},
   next_work as (
     select p.organization_id, min(greatest(head.not_before, l.opens_at)) as due_at
       from occupied p
       join lanes l on l.organization_id = p.organization_id and l.id = p.lane_id
      cross join lateral (
        select c.not_before
          from calls c
         where c.organization_id = l.organization_id
           and c.lane_id = l.id
           and c.status = 'queued'
           and c.lease_token is null
         order by c.not_before, c.id
         limit 1
      ) head
      where not l.paused
        and l.closes_at > statement_timestamp()
      group by p.organization_id
   )
   update dispatch_organizations d
      set ready          = coalesce(n.due_at <= statement_timestamp(), false) or t.organization_id is not null,
          wake_at        = coalesce(n.due_at, 'infinity'),
          exhausted      = false,
          settling_token = null
     from settling s
     left join next_work n on n.organization_id = s.organization_id
     left join cut t       on t.organization_id = s.organization_id
    where d.organization_id = s.organization_id`,
)
