import { sql, type Queryable } from '../database/database.ts'

/** A token bucket: how many calls may start at once, and how fast that right comes back. */
export interface Pacing {
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
  'trunk-pacing.configureTrunk',
  `update trunk
      set channels          = $1,
          calls_per_second  = $2,
          burst             = $3,
          refill_per_second = $4,
          tokens            = least(tokens, $3)
    where id = 1
      and (channels, calls_per_second, burst, refill_per_second) is distinct from ($1, $2, $3, $4)`,
)

export interface TrunkLimits {
  /** Calls at once, over all nodes. */
  readonly maxChannels: number
  readonly maxCallsPerSecond: number
}

/** What the installation's trunk takes; the node that starts last decides. */
export const configureTrunk = async (
  db: Queryable,
  { maxChannels, maxCallsPerSecond }: TrunkLimits,
): Promise<void> => {
  const { burst, refillPerSecond } = pacingOf(maxCallsPerSecond)
  await db.run(configureStatement, [maxChannels, maxCallsPerSecond, burst, refillPerSecond])
}
