import { sql, type Queryable } from '../../database/database.ts'
import type { RouteName } from '../../domains/organizations/organization-mode.ts'
import { pacingOf } from '../../domains/trunks/pacing.ts'

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
  /** Undefined: the sum of the trunks, which the database keeps. */
  readonly callsPerSecond?: number
}

/** A route's limits; the node that started last decides. */
export const configureRoute = async (
  db: Queryable,
  { name, channels, callsPerSecond }: ServedRoute,
): Promise<void> => {
  if (callsPerSecond === undefined) return
  const { burst, refillPerSecond } = pacingOf(callsPerSecond)
  const values = [name, channels ?? null, callsPerSecond, burst, refillPerSecond]
  await db.run(configureStatement, values)
}
