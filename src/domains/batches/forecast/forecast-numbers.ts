import type { OrganizationId } from '../../../contract/organization-id.ts'
import { sql, type Queryable } from '../../../database/database.ts'
import type { SimulatedNumbers } from './number-limits.ts'

interface NumberRow {
  readonly phone_number: string
  readonly calls_per_day: number | null
  readonly calls_today: number
  /** Infinite: until it is resumed. */
  readonly rests_until_ms: number
}

// Numbers of a trunk that is gone are used by no call. A sandbox organization shows a fictional one.
const numbersStatement = sql(
  'forecast-numbers.listNumbers',
  `select n.phone_number, n.calls_per_day, coalesce(d.calls, 0) as calls_today,
          coalesce(extract(epoch from n.rests_until) * 1000, 0)::double precision as rests_until_ms
     from caller_numbers n
     join organizations o on o.id = n.organization_id
     left join lateral (select calls
                          from caller_number_days
                         where organization_id = n.organization_id and phone_number = n.phone_number
                           and day = (now() at time zone (o.policy ->> 'time_zone'))::date
                         limit 1) d on true
    where n.organization_id = $1
      and o.mode = 'live'
      and (n.trunk is null or exists (select from trunks t where t.name = n.trunk))
    order by n.phone_number`,
)

// Of as many agents as have calls that wait.
const agentsStatement = sql(
  'forecast-numbers.listAgents',
  `select a.id, v.definition -> 'caller_ids' as caller_ids
     from agents a
    cross join lateral (select definition
                          from agent_versions
                         where organization_id = a.organization_id and agent_id = a.id
                           and version = a.published_version
                         limit 1) v
    where a.organization_id = $1
      and a.id = any ($2::uuid[])
      and v.definition -> 'caller_ids' is not null`,
)

export interface ForecastNumbers {
  readonly simulated: SimulatedNumbers
  /** The pool of an agent's calls; undefined: they never wait for a number. */
  poolOf(agentId: string): number | undefined
}

interface Question {
  readonly timeZone: string
  /** Of the calls that wait. */
  readonly agentIds: ReadonlySet<string>
  /** Calls of today that the forecast plays once more, by the number that they showed. */
  readonly playedAgain: ReadonlyMap<string, number>
}

/** The organization's numbers with their limits; undefined: it has none, or every call has one without a limit. */
export const loadForecastNumbers = async (
  db: Queryable,
  organizationId: OrganizationId,
  { timeZone, agentIds, playedAgain }: Question,
): Promise<ForecastNumbers | undefined> => {
  const rows = await db.rows<NumberRow>(numbersStatement, [organizationId])
  if (rows.length === 0) return undefined
  const agents = await db.rows<{ id: string; caller_ids: readonly string[] }>(agentsStatement, [
    organizationId,
    [...agentIds],
  ])
  const named = new Map(agents.map((row) => [row.id, new Set(row.caller_ids)]))
  const poolOfNames = (names: ReadonlySet<string> | undefined): readonly number[] | undefined => {
    const pool = rows.flatMap((row, index) =>
      names === undefined || names.has(row.phone_number) ? [index] : [],
    )
    const isEndless = pool.some((index) => {
      const row = rows[index] as NumberRow
      return row.calls_per_day === null && row.rests_until_ms === 0
    })
    return isEndless ? undefined : pool
  }
  const pools: (readonly number[])[] = []
  const add = (pool: readonly number[] | undefined): number | undefined =>
    pool === undefined ? undefined : pools.push(pool) - 1
  const common = add(poolOfNames(undefined))
  const own = new Map([...named].map(([id, names]) => [id, add(poolOfNames(names))]))
  if (pools.length === 0) return undefined
  return {
    simulated: {
      timeZone,
      pools,
      numbers: rows.map((row) => ({
        callsPerDay: row.calls_per_day ?? Number.POSITIVE_INFINITY,
        callsToday: Math.max(0, row.calls_today - (playedAgain.get(row.phone_number) ?? 0)),
        restsUntilMs: row.rests_until_ms,
      })),
    },
    poolOf: (agentId) => (own.has(agentId) ? own.get(agentId) : common),
  }
}
