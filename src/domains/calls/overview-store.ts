import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, type Queryable } from '../../database/database.ts'
import { listedKinds } from './listed-kinds.ts'
import { liveStates, statusIn } from './lifecycle/call-states.ts'

/** The organization's day so far. */
interface OverviewRow {
  readonly time_zone: string
  readonly calls_today: number
  readonly ended_today: number
  readonly answered_today: number
  /** Calls that the organization may have live at a time. */
  readonly channels_allowed: number
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

/**
 * The calls since midnight of one kind, each worded as the index that holds them in the order of their time. Midnight
 * is a subquery's value, which is compared within the index; a join's is not.
 */
const sinceMidnight = (kind: string): string =>
  `select id, status, answer_status, extract(hour from created_at at time zone (select name from zone))::int as hour
       from calls
      where organization_id = $1
        and ${kind}
        and created_at >= (select midnight from zone)`

// Calls of one day by the two indexes of the lists; the queue and the live calls by their own. Nothing is read of other
// days, however many there were.
const overviewStatement = list(
  'overview-store.readOverview',
  `with zone as materialized (
     select o.policy ->> 'time_zone' as name, o.concurrency,
            date_trunc('day', now() at time zone (o.policy ->> 'time_zone'))
              at time zone (o.policy ->> 'time_zone') as midnight
       from organizations o
      where o.id = $1
   ),
   today as materialized (
     ${listedKinds.map(sinceMidnight).join('\n      union all\n     ')}
   ),
   replies as (
     select percentile_cont(array[0.5, 0.95]) within group (order by l.total_ms) as at
       from today
       join turn_latencies l on l.organization_id = $1 and l.call_id = today.id
   ),
   waiting as (
     select count(*)::int as calls, min(queued_at) as oldest
       from calls
      where organization_id = $1
        and status = 'queued' and lease_token is null
   ),
   live as (
     select count(*)::int as calls
       from calls
      where organization_id = $1
        and lease_token is not null
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
          zone.concurrency as channels_allowed, live.calls as live_now, waiting.calls as queued_now, waiting.oldest as oldest_queued_at,
          (replies.at)[1] as reply_p50_ms, (replies.at)[2] as reply_p95_ms,
          coalesce((select jsonb_agg(to_jsonb(hours) order by hour) from hours), '[]') as by_hour
     from zone, live, waiting, replies`,
)

/** Undefined if there is no such organization. */
export const readOverview = (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<OverviewRow | undefined> => db.row<OverviewRow>(overviewStatement, [organizationId])
