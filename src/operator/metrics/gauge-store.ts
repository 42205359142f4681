import { sql, type Database } from '../../database/database.ts'
import type { GaugeName } from '../../runtime/metric-list.ts'
import type { Labels } from '../../runtime/telemetry.ts'

/** One value of a gauge. */
export interface GaugeValue {
  readonly name: GaugeName
  readonly labels: Labels
  readonly value: number
}

/** Trunks and gateways beyond this many are left out: one series for each. */
const maxRows = 200

const gatewayStatement = sql(
  'gauge-store.gateways',
  `select 'outdial_gateway_state' as name,
          jsonb_build_object('trunk', g.trunk, 'gateway', g.uri,
            'state', case when g.down_since is not null then 'down' when g.trial_since is not null then 'trial' else 'up' end)
            as labels,
          1::float8 as value
     from trunk_gateways g
    order by g.trunk, g.uri
    limit $1`,
)

const registrationStatement = sql(
  'gauge-store.registrations',
  `select 'outdial_trunk_registrations' as name,
          jsonb_build_object('trunk', r.trunk, 'gateway', r.gateway, 'state', r.state) as labels,
          count(*)::float8 as value
     from trunk_registrations r
     join nodes n on n.id = r.node_id and n.lease_until > clock_timestamp() and n.rescued_at is null
    group by r.trunk, r.gateway, r.state
    order by r.trunk, r.gateway, r.state
    limit $1`,
)

const trunkStatement = sql(
  'gauge-store.trunks',
  `with known as (select * from trunks order by name limit $1)
   select 'outdial_trunk_calls_per_second' as name, jsonb_build_object('trunk', name) as labels,
          coalesce(paced_per_second, calls_per_second)::float8 as value
     from known
    union all
   select 'outdial_trunk_channels_limit', jsonb_build_object('trunk', name), channels::float8
     from known
    where channels is not null`,
)

// The partial index of live rows, which are never more than the channels of all nodes.
const liveStatement = sql(
  'gauge-store.liveCalls',
  `select 'outdial_calls' as name,
          jsonb_build_object('trunk', coalesce(trunk, 'none'), 'status', status) as labels,
          count(*)::float8 as value
     from calls
    where lease_token is not null
    group by coalesce(trunk, 'none'), status
    limit $1`,
)

// By the partial index of the queue: 10,000 of its entries at most, and the first of each of 1,000 open lanes.
const queueStatement = sql(
  'gauge-store.queue',
  `select 'outdial_queued_calls' as name, '{}'::jsonb as labels, count(*)::float8 as value
     from (select from calls where status = 'queued' and lease_token is null limit 10000) as waiting
    union all
   select 'outdial_oldest_due_call_seconds', '{}',
          greatest(0, coalesce(extract(epoch from clock_timestamp() - min(due.not_before)), 0))::float8
     from (select organization_id, id
             from lanes
            where not paused and opens_at <= now() and now() < closes_at
            limit 1000) as open
    cross join lateral (select not_before
                          from calls c
                         where c.organization_id = open.organization_id and c.lane_id = open.id
                           and c.status = 'queued' and c.lease_token is null and c.not_before <= now()
                         order by c.not_before, c.id
                         limit 1) as due
   having $1::int > 0`,
)

const statements = [
  gatewayStatement,
  registrationStatement,
  trunkStatement,
  liveStatement,
  queueStatement,
]

/** The gauges that all nodes share. Each statement reads a bounded number of rows by an index. */
export const readGauges = async (database: Database): Promise<GaugeValue[]> => {
  const found: GaugeValue[] = []
  // One after the other: a scrape takes one connection of the pool.
  for (const statement of statements)
    found.push(...(await database.rows<GaugeValue>(statement, [maxRows])))
  return found
}
