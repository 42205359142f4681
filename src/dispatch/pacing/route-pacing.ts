import { sql, type Queryable } from '../../database/database.ts'
import type { RouteName } from '../../domains/organizations/organization-mode.ts'

/** A token bucket: how many calls may start at once, and how fast that right comes back. */
interface Pacing {
  readonly burst: number
  readonly refillPerSecond: number
}

/** Calls that may start in one go: a twentieth of a second's allowance, so that the trunk is not hit by a volley. */
const burstsPerSecond = 20
/** A dial leaves some milliseconds after its claim, so that a second of dials may be a little shorter than a second. */
const jitterAllowance = 1.05

/**
 * The bucket for an allowance of calls per second. Any second, wherever it begins, sees at most `burst` at once plus
 * what is refilled during it; both together stay within the allowance, the jitter between claim and INVITE included.
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

/** A route that a node serves, and what it takes over all nodes. */
export interface ServedRoute {
  readonly name: RouteName
  /** Calls at once; as many as the nodes hold, if not given. */
  readonly channels?: number
  readonly callsPerSecond: number
}

/** What a route takes; the node that starts last decides. */
export const configureRoute = async (
  db: Queryable,
  { name, channels, callsPerSecond }: ServedRoute,
): Promise<void> => {
  const { burst, refillPerSecond } = pacingOf(callsPerSecond)
  const values = [name, channels ?? null, callsPerSecond, burst, refillPerSecond]
  await db.run(configureStatement, values)
}
