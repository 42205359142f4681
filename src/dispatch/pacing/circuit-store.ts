import { sql, type Queryable } from '../../database/database.ts'
import type { GatewayFaultCause } from '../../domains/trunks/trunk-store.ts'

/** A gateway that is down gets OPTIONS at this interval, from one node. */
const pingIntervalMs = 5_000
/**
 * Without a response to OPTIONS calls are let through after this time, doubled at each failure up to the maximum.
 */
const firstRetryMs = 30_000
const maxRetryMs = 300_000
/** An opening this soon after a recovery belongs to the same outage. */
const sameOutageMs = 60_000
/** A gateway that is congested and names no time, beside one that takes calls, gets the next call after this. */
const congestedMs = 5_000
/** A carrier's Retry-After is honoured up to this. */
const maxRetryAfterMs = 3_600_000

/** One address of one trunk. */
export interface GatewayKey {
  readonly trunk: string
  readonly uri: string
}

const openStatement = sql(
  'circuit-store.openCircuit',
  `with next as (
     select trunk, uri,
            case when trial_since is not null
                   or recovered_at > clock_timestamp() - interval '${sameOutageMs} milliseconds'
                 then openings + 1 else 1 end as openings
       from trunk_gateways
      where trunk = $1
        and uri = $2
   )
   update trunk_gateways g
      set down_since  = clock_timestamp(),
          down_cause  = $3,
          down_reason = left($4, 500),
          openings    = n.openings,
          trial_since = null,
          ping_at     = clock_timestamp() + interval '${pingIntervalMs} milliseconds',
          retry_at    = clock_timestamp() + interval '1 millisecond'
                        * coalesce($5::double precision,
                                   least(${maxRetryMs}, ${firstRetryMs} * power(2, least(n.openings, 10) - 1)))
     from next n
    where g.trunk = n.trunk
      and g.uri = n.uri
      and g.down_since is null
  returning g.retry_at, g.openings`,
)

export interface GatewayFault {
  readonly cause: GatewayFaultCause
  /** One sentence. */
  readonly reason: string
  /** Of a congested gateway: the time it asked for; by default 5 s. */
  readonly retryAfterMs?: number | undefined
}

/** Stops calls by the gateway. Undefined: it is open already, or the gateway gone. */
export const openCircuit = (
  db: Queryable,
  { trunk, uri }: GatewayKey,
  { cause, reason, retryAfterMs }: GatewayFault,
): Promise<{ readonly retry_at: Date; readonly openings: number } | undefined> =>
  db.row(openStatement, [
    trunk,
    uri,
    cause,
    reason,
    cause === 'congested' ? Math.min(retryAfterMs ?? congestedMs, maxRetryAfterMs) : null,
  ])

// After an outage the trunk's pace starts with one call and rises; another gateway that was up goes on as it was.
const closeStatement = sql(
  'circuit-store.closeCircuit',
  `with paced as (
     update trunks t
        set recovered_at = clock_timestamp(),
            refilled_at  = clock_timestamp(),
            tokens       = 1
      where t.name = $1
        and exists (select from trunk_gateways g where g.trunk = $1 and g.uri = $2 and g.down_since is not null)
        and not exists (select from trunk_gateways g where g.trunk = $1 and g.uri <> $2 and g.down_since is null)
     returning t.name
   )
   update trunk_gateways g
      set down_since   = null,
          down_cause   = null,
          down_reason  = null,
          recovered_at = clock_timestamp(),
          trial_since  = case when $3 then clock_timestamp() end
    where g.trunk = $1
      and g.uri = $2
      and g.down_since is not null
      and (select count(*) from paced) >= 0`,
)

/** Calls are taken again. `trial`: one at a time, until one shows that it works. False: it was closed already. */
export const closeCircuit = async (
  db: Queryable,
  { trunk, uri }: GatewayKey,
  how: 'works' | 'trial',
): Promise<boolean> => (await db.run(closeStatement, [trunk, uri, how === 'trial'])) > 0

// Naming `down_since` carries the reason to the route.
const reasonStatement = sql(
  'circuit-store.changeReason',
  `update trunk_gateways
      set down_reason = left($3, 500), down_since = down_since
    where trunk = $1
      and uri = $2
      and down_cause = 'unreachable'
      and down_since is not null`,
)

/** An open circuit has another reason by now. */
export const changeReason = (
  db: Queryable,
  { trunk, uri }: GatewayKey,
  reason: string,
): Promise<number> => db.run(reasonStatement, [trunk, uri, reason])

const proveStatement = sql(
  'circuit-store.proveGateway',
  `update trunk_gateways
      set trial_since = null
    where trunk = $1
      and uri = $2
      and trial_since is not null`,
)

/** A call showed that it works: the trial is over. */
export const proveGateway = async (db: Queryable, { trunk, uri }: GatewayKey): Promise<boolean> =>
  (await db.run(proveStatement, [trunk, uri])) > 0

const takePingStatement = sql(
  'circuit-store.takePing',
  `update trunk_gateways
      set ping_at = clock_timestamp() + interval '${pingIntervalMs} milliseconds'
    where trunk = $1
      and uri = $2
      and down_since is not null
      and down_cause = 'unreachable'
      and ping_at <= clock_timestamp()`,
)

/** True: this node probes the gateway now, and no other does. */
export const takePing = async (db: Queryable, { trunk, uri }: GatewayKey): Promise<boolean> =>
  (await db.run(takePingStatement, [trunk, uri])) > 0

const statesStatement = sql(
  'circuit-store.circuitStates',
  `select g.trunk, g.uri, g.down_cause as cause, g.down_reason as reason, g.trial_since is not null as is_trial,
          coalesce(g.retry_at <= clock_timestamp(), false) as is_retry_due,
          t.paced_per_second is not null and t.raised_at is null as is_held
     from trunk_gateways g
     join trunks t on t.name = g.trunk`,
)

export interface CircuitState extends GatewayKey {
  /** Null: calls are taken. */
  readonly cause: GatewayFaultCause | null
  readonly reason: string | null
  readonly is_trial: boolean
  readonly is_retry_due: boolean
  /** The pace of its trunk was lowered, and no call was taken since. */
  readonly is_held: boolean
}

/** The circuits of all gateways: at most some hundreds. */
export const circuitStates = (db: Queryable): Promise<CircuitState[]> =>
  db.rows<CircuitState>(statesStatement, [])

/** Counting ends here. */
export const maxCountedWaiting = 100_000

const reportStatement = sql(
  'circuit-store.reportCircuits',
  `with waiting as (
     select count(*)::integer as calls
       from (select
               from dispatch_organizations d
               join lanes l on l.organization_id = d.organization_id
                           and not l.paused and l.opens_at <= now() and l.closes_at > now()
               join calls c on c.organization_id = l.organization_id
                           and c.lane_id = l.id
                           and c.status = 'queued'
                           and c.lease_token is null
                           and (c.not_before <= now() or c.wait_reason = 'trunk_down')
              where d.route = 'env'
              limit ${maxCountedWaiting}) as due
   )
   select g.trunk, g.uri, g.down_since as since, g.down_cause as cause, g.down_reason as reason, g.ping_at, g.retry_at,
          w.calls as waiting
     from trunk_gateways g
    cross join waiting w
    where g.down_since is not null
    order by g.trunk, g.position`,
)

/** An open circuit, for people. */
export interface CircuitReport extends GatewayKey {
  readonly since: Date
  readonly cause: GatewayFaultCause
  readonly reason: string
  /** The next OPTIONS, if a response proves something; when a call is let through at the latest. Null: neither. */
  readonly ping_at: Date | null
  readonly retry_at: Date | null
  /** Calls of live organizations that would be dialled now, up to `maxCountedWaiting`. */
  readonly waiting: number
}

/** Over all organizations, because a trunk belongs to the installation. */
export const reportCircuits = (db: Queryable): Promise<CircuitReport[]> =>
  db.rows<CircuitReport>(reportStatement, [])
