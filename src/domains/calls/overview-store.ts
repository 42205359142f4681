import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, type Queryable } from '../../database/database.ts'
import { liveStates, statusIn } from './lifecycle/call-states.ts'

/** The organization's day so far. */
interface OverviewRow {
  readonly time_zone: string
  readonly calls_today: number
  readonly ended_today: number
  readonly answered_today: number
  readonly live_now: number
  readonly queued_now: number
  readonly oldest_queued_at: Date | null
  readonly reply_p50_ms: number | null
  readonly reply_p95_ms: number | null
  readonly by_hour: readonly {
    readonly hour: number
    readonly calls: number
    readonly answered: number
  }[]
}

// Reads the calls of one day by their index; a queue of a million is counted by an index too.
const overviewStatement = list(
  'overview-store.readOverview',
  `with zone as (
     select o.policy ->> 'time_zone' as name,
            date_trunc('day', now() at time zone (o.policy ->> 'time_zone'))
              at time zone (o.policy ->> 'time_zone') as midnight
       from organizations o
      where o.id = $1
   ),
   today as materialized (
     select c.id, c.status, c.answer_status,
            extract(hour from c.created_at at time zone zone.name)::int as hour
       from zone
       join calls c on c.created_at >= zone.midnight
      where c.organization_id = $1
        and c.status <> 'pending'
   ),
   replies as (
     select percentile_cont(array[0.5, 0.95]) within group (order by l.total_ms) as at
       from turn_latencies l
      where l.organization_id = $1
        and l.call_id in (select id from today)
   ),
   waiting as (
     select count(*)::int as calls, min(queued_at) as oldest
       from calls
      where organization_id = $1
        and status = 'queued'
   ),
   live as (
     select count(*)::int as calls
       from calls
      where organization_id = $1
        and ${statusIn(liveStates)}
   ),
   hours as (
     select hour, count(*)::int as calls,
            count(*) filter (where answer_status = 'answered')::int as answered
       from today
      group by hour
   )
   select zone.name as time_zone,
          (select count(*)::int from today) as calls_today,
          (select count(*)::int from today where status in ('completed', 'failed', 'cancelled')) as ended_today,
          (select count(*)::int from today where answer_status = 'answered') as answered_today,
          live.calls as live_now, waiting.calls as queued_now, waiting.oldest as oldest_queued_at,
          (replies.at)[1] as reply_p50_ms, (replies.at)[2] as reply_p95_ms,
          coalesce((select jsonb_agg(to_jsonb(hours) order by hour) from hours), '[]') as by_hour
     from zone, live, waiting, replies`,
)

/** Undefined if there is no such organization. */
export const readOverview = (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<OverviewRow | undefined> => db.row<OverviewRow>(overviewStatement, [organizationId])
