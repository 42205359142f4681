import type { CallStatus } from '../../contract/states.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { CallOrigin } from './lifecycle/call-states.ts'
import type { LaneKind } from './lane-store.ts'
import type { LiveLack } from '../organizations/organization-mode.ts'
import type { CallingPolicyJson } from '../organizations/calling-policy.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** Of more gateways tried the newest are shown. */
const maxTries = 150
/** Calls ahead are counted up to this. */
export const maxAhead = 1000

export interface StoredDecision {
  readonly at: string
  readonly decision: string
  /** Omitted if the decision alone is enough, such as `completed`. */
  readonly reason?: string
  readonly until?: string
}

/** A gateway that was asked to carry the call. */
export interface StoredTry {
  readonly at: string
  readonly attempt: number
  readonly position: number
  readonly trunk: string
  readonly gateway: string
  readonly sip_status: number | null
  readonly reason: string
  readonly seconds: number
}

/** A call's own reason to wait, apart from its lane. */
export type OwnWaitReason =
  | 'carrier_congestion'
  | 'attempts_per_day'
  | 'not_sent'
  | 'no_engine'
  | 'trunk_down'
  | 'no_trunk'
  | 'no_caller_id'
  | 'caller_ids_exhausted'
  | 'caller_ids_resting'
  | 'trunk_full'
  | 'number_in_use'

interface TrunkPace {
  readonly calls_per_second: number
  readonly paced_per_second: number
  readonly reason: string
  readonly is_rising: boolean
}

/** A call and everything it may be waiting for, read at one moment. */
export interface ExplainRow {
  readonly id: string
  readonly status: CallStatus
  readonly attempt: number
  readonly decisions: readonly StoredDecision[]
  readonly tries: readonly StoredTry[]
  readonly wait_reason: OwnWaitReason | null
  /** Null: no time brings it back, only the missing setting. */
  readonly not_before: Date | null
  readonly congestions: number
  readonly congested_since: Date | null
  readonly is_due: boolean
  readonly is_claimed: boolean
  /** The organization's call that holds its number. */
  readonly number_holder_id: string | null
  readonly number_holder_origin: CallOrigin | null
  readonly lane_kind: LaneKind
  readonly policy: CallingPolicyJson
  readonly now: Date
  readonly time_zones: string
  /** Of its batch's own calling window. */
  readonly window_time_zone: string | null
  readonly is_paused: boolean
  readonly is_opening_known: boolean
  readonly is_open: boolean
  /** Null: no opening within the horizon. */
  readonly opens_at: Date | null
  readonly concurrency: number
  readonly live_calls: number
  /** Limit of its route over all nodes; null: as many as the nodes hold. */
  readonly channels: number | null
  readonly live_channels: number
  readonly calls_per_second: number
  readonly tokens: number
  /** Of the first congested trunk that serves its organization. */
  readonly pace: TrunkPace | null
  /** Null: the trunk's circuit is closed. */
  readonly down_reason: string | null
  readonly down_cause: string | null
  /** Trunks of the installation, over all organizations. */
  readonly trunks: number
  /** Of the organization. */
  readonly numbers: number
  readonly is_live: boolean
  readonly retry_at: Date | null
  readonly dispatchers: number
  /** Nodes that serve its route. */
  readonly servers: number
  /** What live organizations lack, according to the node that started last. */
  readonly lacks: readonly LiveLack[]
  /** Channels of the nodes that serve its route. */
  readonly node_channels: number
  readonly live_on_nodes: number
  /** Nodes that live, but no longer dial. */
  readonly draining: number
  /** Due calls of the same lane that come first, up to `maxAhead`. */
  readonly ahead: number
}

const loadStatement = sql(
  'explain-store.loadForExplanation',
  `select c.id, c.status, c.attempt, c.decisions, c.wait_reason,
          c.congestions, c.congested_since,
          coalesce((select jsonb_agg(jsonb_build_object('at', y.started_at, 'attempt', y.attempt, 'position', y.position,
                             'trunk', y.trunk, 'gateway', y.gateway, 'sip_status', y.sip_status, 'reason', y.reason,
                             'seconds', round(extract(epoch from y.ended_at - y.started_at), 1)) order by y.started_at)
                      from (select * from call_tries y
                             where y.organization_id = c.organization_id and y.call_id = c.id
                             order by y.started_at desc limit ${maxTries}) y), '[]') as tries,
          case when isfinite(c.not_before) then c.not_before end as not_before,
          c.not_before <= now() as is_due, c.lease_token is not null as is_claimed,
          h.id as number_holder_id, h.origin as number_holder_origin,
          o.policy, now() as now, l.kind as lane_kind, l.time_zones, l.calling_window ->> 'time_zone' as window_time_zone,
          l.paused as is_paused, l.opens_at is not null as is_opening_known,
          coalesce(l.opens_at <= now() and l.closes_at > now(), false) as is_open,
          case when isfinite(l.opens_at) then l.opens_at end as opens_at,
          o.concurrency,
          (select count(*) from calls x where x.organization_id = c.organization_id and x.lease_token is not null)
            as live_calls,
          t.channels, t.calls_per_second, t.down_reason, t.down_cause, t.retry_at,
          (select count(*) from trunks)::integer as trunks,
          (select count(*) from caller_numbers n where n.organization_id = c.organization_id)::integer as numbers,
          d.route = 'env' as is_live,
          (select count(*) from calls x where x.lease_token is not null and x.route = t.name) as live_channels,
          least(t.burst, t.tokens + t.refill_per_second
                * greatest(0, extract(epoch from now() - t.refilled_at)::double precision)) as tokens,
          (select jsonb_build_object('calls_per_second', p.calls_per_second, 'paced_per_second', p.paced_per_second,
                                     'reason', p.congested_reason, 'is_rising', p.raised_at is not null)
             from trunks p
            where p.paced_per_second is not null
              and not p.paused
              and (p.organizations is null or c.organization_id = any(p.organizations))
              and d.route = 'env'
            order by p.priority, p.name
            limit 1) as pace,
          w.dispatchers, w.servers, w.node_channels, w.live_on_nodes, w.lacks,
          (select count(*) from nodes n where n.lease_until > now() and n.rescued_at is null and n.draining)
            as draining,
          (select count(*)
             from (select
                     from calls q
                    where q.organization_id = c.organization_id
                      and q.lane_id = c.lane_id
                      and q.status = 'queued'
                      and q.lease_token is null
                      and (q.not_before, q.id) < (c.not_before, c.id)
                    limit $3) as before) as ahead
     from calls c
     join lanes l         on l.organization_id = c.organization_id and l.id = c.lane_id
     join organizations o on o.id = c.organization_id
     join dispatch_organizations d on d.organization_id = c.organization_id
     left join routes t   on t.name = d.route
     left join lateral (
       select x.id, x.origin
         from calls x
        where x.organization_id = c.organization_id
          and x.phone_number = c.phone_number
          and c.phone_number <> ''
          and x.lease_token is not null
          and x.id <> c.id
        limit 1) h        on true
    cross join lateral (
      select count(*) as dispatchers,
             count(*) filter (where d.route = any(n.routes)) as servers,
             coalesce(sum(n.max_channels) filter (where d.route = any(n.routes)), 0) as node_channels,
             coalesce(sum((select count(*) from calls x where x.lease_token is not null and x.node_id = n.id))
                        filter (where d.route = any(n.routes)), 0)::bigint as live_on_nodes,
             coalesce((array_agg(to_json(n.lacks) order by n.started_at desc))[1], '[]') as lacks
        from nodes n
       where n.lease_until > now() and n.rescued_at is null and not n.draining
    ) w
    where c.organization_id = $1
      and c.id = $2
      and c.status <> 'pending'`,
)

export const loadForExplanation = (
  db: Queryable,
  organizationId: OrganizationId,
  callId: string,
): Promise<ExplainRow | undefined> =>
  db.row<ExplainRow>(loadStatement, [organizationId, callId, maxAhead])

const reasonsStatement = sql(
  'explain-store.waitReasons',
  `select id, wait_reason
     from calls
    where organization_id = $1
      and id = any($2::uuid[])
      and status = 'queued'
      and lease_token is null
      and wait_reason is not null`,
)

/** The calls' own reasons to wait, for those that have one. */
export const waitReasonsOf = async (
  db: Queryable,
  organizationId: OrganizationId,
  callIds: readonly string[],
): Promise<ReadonlyMap<string, OwnWaitReason>> => {
  const rows = await db.rows<{ id: string; wait_reason: OwnWaitReason }>(reasonsStatement, [
    organizationId,
    callIds,
  ])
  return new Map(rows.map((row) => [row.id, row.wait_reason]))
}

const firstOfLanesStatement = sql(
  'explain-store.firstCallsOfBatch',
  `select q.id
     from lanes l
    cross join lateral (
      select c.id
        from calls c
       where c.organization_id = l.organization_id
         and c.lane_id = l.id
         and c.status = 'queued'
         and c.lease_token is null
       order by c.not_before, c.id
       limit 1) q
    where l.organization_id = $1
      and l.source_id = $2
      and l.kind = 'batch'
    order by l.opens_at, l.id
    limit $3`,
)

/** The next call in each lane of the batch, at most `limit`, lanes that open earlier first. */
export const firstCallsOfBatch = async (
  db: Queryable,
  organizationId: OrganizationId,
  batchId: string,
  limit: number,
): Promise<readonly string[]> =>
  (await db.rows<{ id: string }>(firstOfLanesStatement, [organizationId, batchId, limit])).map(
    ({ id }) => id,
  )
