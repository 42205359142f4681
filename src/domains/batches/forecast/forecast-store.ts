import type { CallingWindowJson } from '../../../calling-hours/weekly-window.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'
import { sql, type Queryable } from '../../../database/database.ts'
import type { CallingPolicyJson } from '../../organizations/calling-policy.ts'

/** Calls of other work that are counted, those first that are due first. */
export const maxOtherCalls = 50_000

/** The limits of dispatch for one organization, as they are now. */
export interface CapacityRow {
  readonly policy: CallingPolicyJson
  readonly concurrency: number
  /** Null: as many as the nodes hold. */
  readonly channels: number | null
  readonly refill_per_second: number
  readonly burst: number
  readonly is_down: boolean
  /** Channels of the nodes that serve the route. */
  readonly node_channels: number
  /** Calls of other organizations on the same route. */
  readonly live_of_others: number
  readonly is_agent_eligible: boolean
  readonly now: Date
}

const capacityStatement = sql(
  'forecast-store.findCapacity',
  `select o.policy, o.concurrency, t.channels, t.refill_per_second, t.burst, t.down_since is not null as is_down,
          (select coalesce(sum(n.max_channels), 0)::int
             from nodes n
            where d.route = any(n.routes) and n.lease_until > now() and n.rescued_at is null and not n.draining)
            as node_channels,
          (select count(*)::int
             from calls x
            where x.lease_token is not null and x.route = t.name and x.organization_id <> o.id) as live_of_others,
          (select a.published_version is not null and a.archived_at is null
             from agents a
            where a.organization_id = o.id and a.id = $2) as is_agent_eligible,
          now() as now
     from organizations o
     join dispatch_organizations d on d.organization_id = o.id
     join routes t on t.name = d.route
    where o.id = $1`,
)

/** Undefined: its route is not decided yet. */
export const findCapacity = (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
): Promise<CapacityRow | undefined> =>
  db.row<CapacityRow>(capacityStatement, [organizationId, agentId])

/** A call that waits, with its lane. */
export interface WaitingRow {
  readonly id: string
  readonly phone_number: string
  readonly agent_id: string
  readonly status: string
  readonly not_before: Date | null
  readonly time_zones: string
  readonly calling_window: CallingWindowJson | null
  readonly source_id: string
  readonly rank: number
}

export interface RecipientRow extends WaitingRow {
  readonly is_on_do_not_call_list: boolean
  readonly is_contact_known: boolean
  readonly is_live: boolean
  /** The number shown to the callee, if it was counted. */
  readonly counted_number: string | null
  readonly dialing_at: Date | null
  readonly ended_at: Date | null
}

const laneColumns = 'l.time_zones, l.calling_window, l.source_id, l.rank'

// A batch has at most 1,000 calls (D5).
const recipientsStatement = sql(
  'forecast-store.listForecastRecipients',
  `select c.id, c.phone_number, c.agent_id, c.status, c.dialing_at, c.ended_at, ${laneColumns},
          case when c.caller_id_day is not null then c.caller_id end as counted_number,
          case when isfinite(c.not_before) then c.not_before end as not_before,
          c.lease_token is not null as is_live,
          d.phone_number is not null as is_on_do_not_call_list,
          k.id is not null as is_contact_known
     from calls c
     -- Each lane by its key: limit 1 leaves no other join.
     join lateral (select * from lanes
                    where organization_id = c.organization_id and id = c.lane_id
                    limit 1) l on true
     left join dnc_numbers d on d.organization_id = c.organization_id and d.phone_number = c.phone_number
     left join contacts k on k.organization_id = c.organization_id and k.id = c.contact_id
    where c.organization_id = $1
      and c.batch_id = $2
    order by c.id`,
)

/** All recipients of a batch, in the order in which they are dialled. */
export const listForecastRecipients = (
  db: Queryable,
  organizationId: OrganizationId,
  batchId: string,
): Promise<RecipientRow[]> => db.rows<RecipientRow>(recipientsStatement, [organizationId, batchId])

const othersStatement = sql(
  'forecast-store.listOtherCalls',
  `select c.id, c.phone_number, c.agent_id, c.status, c.not_before, ${laneColumns}
     from lanes l
    cross join lateral (
      select id, phone_number, agent_id, status, not_before
        from calls
       where organization_id = l.organization_id
         and lane_id = l.id
         and status = 'queued'
         and lease_token is null
       order by not_before, id
       limit $3) c
    where l.organization_id = $1
      and l.source_id <> $2
      and not l.paused
      and isfinite(c.not_before)
   union all
   select c.id, c.phone_number, c.agent_id, c.status, b.scheduled_start_at, ${laneColumns}
     from batches b
     join calls c on c.organization_id = b.organization_id and c.batch_id = b.id
     join lanes l on l.organization_id = c.organization_id and l.id = c.lane_id
    where b.organization_id = $1
      and b.id <> $2
      and b.status = 'scheduled'
      and c.status = 'pending'
    limit $3`,
)

/** What else waits in the organization: queued work, and scheduled batches. */
export const listOtherCalls = (
  db: Queryable,
  organizationId: OrganizationId,
  batchId: string,
): Promise<WaitingRow[]> =>
  db.rows<WaitingRow>(othersStatement, [organizationId, batchId, maxOtherCalls])

const liveStatement = sql(
  'forecast-store.listHeldLines',
  `select phone_number, dialing_at, batch_id
     from calls
    where organization_id = $1
      and lease_token is not null`,
)

interface LiveRow {
  readonly phone_number: string
  readonly dialing_at: Date | null
  readonly batch_id: string | null
}

export const listHeldLines = (db: Queryable, organizationId: OrganizationId): Promise<LiveRow[]> =>
  db.rows<LiveRow>(liveStatement, [organizationId])

/** How many recent calls an average is made of, at most. */
const maxSamples = 200

export interface SampleRow {
  readonly agent_id: string
  readonly line_ms: number
  readonly is_answered: boolean
}

// Worded as the indexes of migrations/0150-list-indexes.sql and 0160-own-lists.sql.
const samplesStatement = sql(
  'forecast-store.listSamples',
  `select agent_id, is_answered, (extract(epoch from ended_at - dialing_at) * 1000)::double precision as line_ms
     from ((select agent_id, dialing_at, ended_at, answer_status = 'answered' as is_answered
              from calls
             where organization_id = $1
               and status = 'completed'
               and origin = 'api' and status <> 'pending'
             order by created_at desc, id desc
             limit $2)
           union all
           (select agent_id, dialing_at, ended_at, answer_status = 'answered' as is_answered
              from calls
             where organization_id = $1
               and origin <> 'api' and status <> 'pending'
             order by created_at desc, id desc
             limit $2)) as recent
    where dialing_at is not null
      and ended_at is not null
      and is_answered is not null`,
)

/** The organization's latest calls that ended. */
export const listSamples = (db: Queryable, organizationId: OrganizationId): Promise<SampleRow[]> =>
  db.rows<SampleRow>(samplesStatement, [organizationId, maxSamples])

const dialledStatement = sql(
  'forecast-store.listDialled',
  `select phone_number, dialing_at
     from calls
    where organization_id = $1
      and phone_number = any($2::text[])
      and dialing_at >= $3`,
)

/** Dials of these numbers since `since`. */
export const listDialled = async (
  db: Queryable,
  organizationId: OrganizationId,
  numbers: readonly string[],
  since: Date,
): Promise<Map<string, number[]>> => {
  const rows = await db.rows<{ phone_number: string; dialing_at: Date }>(dialledStatement, [
    organizationId,
    numbers,
    since,
  ])
  const dialled = new Map<string, number[]>()
  for (const { phone_number: number, dialing_at: at } of rows)
    dialled.set(number, [...(dialled.get(number) ?? []), at.getTime()])
  return dialled
}
