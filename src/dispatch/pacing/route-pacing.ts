import { sql, type Queryable } from '../../database/database.ts'
import type { RouteName } from '../../domains/organizations/organization-mode.ts'

/** A token bucket: how many calls may start at once, and how fast tokens refill. */
interface Pacing {
  readonly burst: number
  readonly refillPerSecond: number
}

/** Calls that may start at once: a twentieth of a second's allowance, so that the trunk gets no burst. */
const burstsPerSecond = 20
/** A dial leaves some milliseconds after its claim, so a second of dials may be a little shorter than a second. */
const jitterAllowance = 1.05

/**
 * The bucket for an allowance of calls per second. Any second, wherever it begins, has at most `burst` at once plus
 * its refill; both together stay within the allowance, including the jitter between claim and INVITE.
 */
export const pacingOf = (callsPerSecond: number): Pacing => {
  const burst = Math.max(1, Math.floor(callsPerSecond / burstsPerSecond))
  return { burst, refillPerSecond: (callsPerSecond + 1 - burst) / jitterAllowance }
}

const configureStatement = sql(
  'route-pacing.configureRoute',
  `update routes
      set channels          = $2,
          calls_per_second  = $3,
          burst             = $4,
          refill_per_second = $5,
          tokens            = least(tokens, $4)
    where name = $1
      and (channels, calls_per_second, burst, refill_per_second) is distinct from ($2, $3, $4, $5)`,
)

/** A route that a node serves, and its limits over all nodes. */
export interface ServedRoute {
  readonly name: RouteName
  /** Calls at once; by default as many as the nodes hold. */
  readonly channels?: number
  readonly callsPerSecond: number
}

/** A route's limits; the node that started last decides. */
export const configureRoute = async (
  db: Queryable,
  { name, channels, callsPerSecond }: ServedRoute,
): Promise<void> => {
  const { burst, refillPerSecond } = pacingOf(callsPerSecond)
  const values = [name, channels ?? null, callsPerSecond, burst, refillPerSecond]
  await db.run(configureStatement, values)
}
