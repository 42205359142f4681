import { sql, type Queryable } from '../../database/database.ts'
import type { RouteName } from '../../domains/organizations/organization-mode.ts'

/** Why no call can use a trunk: it is unreachable, or it refuses us. */
export type TrunkFaultCause = 'unreachable' | 'credentials'

/** A trunk that is down gets OPTIONS at this interval, from one node. */
const pingIntervalMs = 5_000
/**
 * Without a response to OPTIONS calls are let through after this time, doubled at each failure up to the maximum.
 */
const firstRetryMs = 30_000
const maxRetryMs = 300_000
/** An opening this soon after a recovery belongs to the same outage. */
const sameOutageMs = 60_000

const openStatement = sql(
  'circuit-store.openCircuit',
  `with next as (
     select name,
            case when recovered_at > clock_timestamp() - interval '${sameOutageMs} milliseconds'
                 then openings + 1 else 1 end as openings
       from routes
      where name = $1
   )
   update routes r
      set down_since  = clock_timestamp(),
          down_cause  = $2,
          down_reason = left($3, 500),
          openings    = n.openings,
          ping_at     = clock_timestamp() + interval '${pingIntervalMs} milliseconds',
          retry_at    = clock_timestamp() + interval '1 millisecond'
                        * least(${maxRetryMs}, ${firstRetryMs} * power(2, least(n.openings, 10) - 1))
     from next n
    where r.name = n.name
      and r.down_since is null
  returning r.retry_at`,
)

/** Stops claims by the route. Undefined: it is open already; else when calls are let through at the latest. */
export const openCircuit = async (
  db: Queryable,
  route: RouteName,
  cause: TrunkFaultCause,
  reason: string,
): Promise<Date | undefined> =>
  (await db.row<{ retry_at: Date }>(openStatement, [route, cause, reason]))?.retry_at

const closeStatement = sql(
  'circuit-store.closeCircuit',
  `update routes
      set down_since   = null,
          down_cause   = null,
          down_reason  = null,
          recovered_at = clock_timestamp(),
          refilled_at  = clock_timestamp(),
          tokens       = 1
    where name = $1
      and down_since is not null`,
)

/** Calls are claimed again, one at first. False: it was closed already. */
export const closeCircuit = async (db: Queryable, route: RouteName): Promise<boolean> =>
  (await db.run(closeStatement, [route])) > 0

const takePingStatement = sql(
  'circuit-store.takePing',
  `update routes
      set ping_at = clock_timestamp() + interval '${pingIntervalMs} milliseconds'
    where name = $1
      and down_since is not null
      and down_cause = 'unreachable'
      and ping_at <= clock_timestamp()`,
)

/** True: this node probes the trunk now, and no other does. */
export const takePing = async (db: Queryable, route: RouteName): Promise<boolean> =>
  (await db.run(takePingStatement, [route])) > 0

const stateStatement = sql(
  'circuit-store.circuitState',
  `select down_cause as cause, down_reason as reason,
          coalesce(retry_at <= clock_timestamp(), false) as is_retry_due
     from routes
    where name = $1`,
)

interface StateRow {
  readonly cause: TrunkFaultCause | null
  readonly reason: string | null
  readonly is_retry_due: boolean
}

interface CircuitState {
  /** Undefined: calls are claimed. */
  readonly cause: TrunkFaultCause | undefined
  readonly reason: string | undefined
  readonly isRetryDue: boolean
}

export const circuitState = async (db: Queryable, route: RouteName): Promise<CircuitState> => {
  const row = await db.row<StateRow>(stateStatement, [route])
  return {
    cause: row?.cause ?? undefined,
    reason: row?.reason ?? undefined,
    isRetryDue: row?.is_retry_due ?? false,
  }
}

/** Counting ends here. */
export const maxCountedWaiting = 100_000

const reportStatement = sql(
  'circuit-store.reportCircuit',
  `select r.down_since as since, r.down_cause as cause, r.down_reason as reason, r.ping_at, r.retry_at,
          (select count(*)
             from (select
                     from dispatch_organizations d
                     join lanes l on l.organization_id = d.organization_id
                                 and not l.paused and l.opens_at <= now() and l.closes_at > now()
                     join calls c on c.organization_id = l.organization_id
                                 and c.lane_id = l.id
                                 and c.status = 'queued'
                                 and c.lease_token is null
                                 and (c.not_before <= now() or c.wait_reason = 'trunk_down')
                    where d.route = r.name
                    limit ${maxCountedWaiting}) as due)::integer as waiting
     from routes r
    where r.name = $1
      and r.down_since is not null`,
)

/** An open circuit, for people. */
export interface CircuitReport {
  readonly since: Date
  readonly cause: TrunkFaultCause
  readonly reason: string
  /** The next OPTIONS, if a response proves something; when a call is let through at the latest. */
  readonly ping_at: Date
  readonly retry_at: Date
  /** Calls that would be dialled now, up to `maxCountedWaiting`. */
  readonly waiting: number
}

/**
 * Undefined: the circuit is closed, or the route unknown. Over all organizations, because a trunk belongs to the
 * installation.
 */
export const reportCircuit = (
  db: Queryable,
  route: RouteName,
): Promise<CircuitReport | undefined> => db.row<CircuitReport>(reportStatement, [route])
