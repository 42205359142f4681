import { sql, type Queryable } from '../../database/database.ts'

/** Statements over all organizations: they are the installation's. Each reads a bounded number of rows. */

const maxNodes = 100

// Live calls are never more than the channels.
const nodesStatement = sql(
  'health-store.listNodes',
  `select n.name, n.started_at, n.lease_until, n.draining, n.max_channels, n.routes, n.lacks,
          extract(epoch from n.lease_until - clock_timestamp())::float8 as lease_seconds,
          coalesce(l.calls, 0)::int as live_calls
     from (select *
             from nodes
            order by lease_until desc
            limit ${maxNodes}) as n
     left join (select node_id, count(*) as calls
                  from calls
                 where lease_token is not null
                 group by node_id) as l on l.node_id = n.id
    order by n.name, n.started_at desc`,
)

interface NodeRow {
  readonly name: string
  readonly started_at: Date
  readonly lease_until: Date
  readonly draining: boolean
  readonly max_channels: number
  readonly routes: string[]
  readonly lacks: string[]
  readonly lease_seconds: number
  readonly live_calls: number
}

export const listNodes = (db: Queryable): Promise<NodeRow[]> => db.rows<NodeRow>(nodesStatement, [])

const maxTrunks = 100
/** Of one trunk. */
const maxGateways = 10

const trunksStatement = sql(
  'health-store.listTrunks',
  `select t.name, t.channels, t.paused, g.uri, g.down_since, g.down_reason, g.retry_at,
          coalesce(l.calls, 0)::int as live_calls
     from (select name, channels, paused, priority
             from trunks
            order by priority, name
            limit ${maxTrunks}) as t
    cross join lateral (select uri, position, down_since, down_reason, retry_at
                          from trunk_gateways
                         where trunk = t.name
                         order by position
                         limit ${maxGateways}) as g
     left join (select trunk, count(*) as calls
                  from calls
                 where lease_token is not null
                 group by trunk) as l on l.trunk = t.name
    order by t.priority, t.name, g.position`,
)

/** A gateway of a trunk; the trunk's figures stand in each. */
interface GatewayRow {
  readonly name: string
  readonly channels: number | null
  readonly paused: boolean
  /** Without user and password. */
  readonly uri: string
  readonly down_since: Date | null
  readonly down_reason: string | null
  readonly retry_at: Date | null
  readonly live_calls: number
}

export const listGatewayStates = (db: Queryable): Promise<GatewayRow[]> =>
  db.rows<GatewayRow>(trunksStatement, [])

/** Counting of waiting calls and jobs ends here. */
export const maxCounted = 20_000

const queueStatement = sql(
  'health-store.readQueue',
  `with counted as materialized (
     select queued_at
       from calls
      where status = 'queued'
        and lease_token is null
      limit ${maxCounted}
   )
   select (select count(*) from counted)::int as calls, (select min(queued_at) from counted) as oldest_queued_at,
          (select count(*)
             from (select
                     from graphile_worker.jobs
                    where run_at <= now() and locked_at is null and attempts < max_attempts
                    limit ${maxCounted}) as due)::int as jobs`,
)

interface QueueRow {
  readonly calls: number
  readonly oldest_queued_at: Date | null
  readonly jobs: number
}

export const readQueue = (db: Queryable): Promise<QueueRow | undefined> =>
  db.row<QueueRow>(queueStatement, [])

const databaseStatement = sql(
  'health-store.readDatabase',
  `select pg_database_size(current_database())::float8 as size_bytes,
          (select count(*) from pg_stat_activity where datname = current_database())::int as connections,
          current_setting('max_connections')::int as max_connections,
          (select max(name) from schema_migrations) as level`,
)

interface DatabaseRow {
  readonly size_bytes: number
  readonly connections: number
  readonly max_connections: number
  readonly level: string | null
}

export const readDatabase = (db: Queryable): Promise<DatabaseRow | undefined> =>
  db.row<DatabaseRow>(databaseStatement, [])
