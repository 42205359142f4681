import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, lookup, type Queryable } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { costOfCalls, findPrices } from './call-prices.ts'
import { noKey } from './count-usage.ts'

export const usageGroupings = ['day', 'agent', 'key'] as const
export type UsageGrouping = (typeof usageGroupings)[number]

/** Days, both included: `2026-11-23`. By default the last thirty. */
interface UsageRange {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

const sums = `sum(calls)::float8 as calls, sum(answered)::float8 as answered,
          sum(connected_seconds)::float8 as connected_seconds,
          sum(model_cost_microusd)::float8 as model_cost_microusd`

const groupedBy = (name: string, group: string, order: string) =>
  list(
    `daily-usage.${name}`,
    `select ${group}::text as group, ${sums}
     from daily_usage
    where organization_id = $1
      and day between $2::date and $3::date
    group by ${group}
    order by ${order}`,
  )

const statements = {
  day: groupedBy('byDay', 'day', 'day desc'),
  agent: groupedBy('byAgent', 'agent_id', 'sum(calls) desc, agent_id'),
  key: groupedBy('byKey', 'api_key_id', 'sum(calls) desc, api_key_id'),
} as const

interface UsageSums {
  readonly calls: number
  readonly answered: number
  readonly connected_seconds: number
  readonly model_cost_microusd: number
}

/** The usage of one day, agent or key. */
export interface UsageOf {
  /** `2026-11-23`, or the name of the agent or key; undefined where no program asked. */
  readonly day?: string
  readonly id?: string | null
  readonly name?: string | null
  readonly calls: number
  readonly answered: number
  /** Of connected calls. */
  readonly minutes: number
  /** Undefined without prices. */
  readonly cost?: number
  /** Of models, in US dollars, by the price table of OUTDIAL_PRICES. */
  readonly model_cost_usd: number
}

export interface Usage {
  readonly by: UsageGrouping
  readonly from: string
  readonly to: string
  readonly time_zone: string
  /** Of `cost`; undefined: no prices are set. */
  readonly currency?: string
  readonly total: UsageOf
  readonly data: readonly UsageOf[]
}

/** What an organization used, by day, agent or key. Throws `OperatorError` for a range that is none. */
export const readUsage = async (
  db: Queryable,
  organizationId: OrganizationId,
  by: UsageGrouping,
  range: UsageRange = {},
): Promise<Usage> => {
  const { today, time_zone: timeZone } = await findToday(db, organizationId)
  const to = range.to ?? today
  const from = range.from ?? addDays(to, 1 - defaultDays)
  checkRange(from, to)
  const rows = await db.rows<UsageSums & { readonly group: string }>(statements[by], [
    organizationId,
    from,
    to,
  ])
  const prices = await findPrices(db, organizationId)
  const names = by === 'day' ? undefined : await findNames(db, organizationId, by)
  const shown = (used: UsageSums) => ({
    calls: used.calls,
    answered: used.answered,
    minutes: Math.round(used.connected_seconds / 6) / 10,
    ...(prices && { cost: costOfCalls(prices, used) }),
    model_cost_usd: used.model_cost_microusd / 1e6,
  })
  return {
    by,
    from,
    to,
    time_zone: timeZone,
    ...(prices && { currency: prices.currency }),
    total: shown(rows.reduce(added, nothing)),
    data: rows.map((row) => ({ ...labelOf(row.group, names), ...shown(row) })),
  }
}

const defaultDays = 30
const maxDays = 366
const dayMs = 86_400_000

const nothing: UsageSums = { calls: 0, answered: 0, connected_seconds: 0, model_cost_microusd: 0 }

const added = (sum: UsageSums, row: UsageSums): UsageSums => ({
  calls: sum.calls + row.calls,
  answered: sum.answered + row.answered,
  connected_seconds: sum.connected_seconds + row.connected_seconds,
  model_cost_microusd: sum.model_cost_microusd + row.model_cost_microusd,
})

const labelOf = (group: string, names: ReadonlyMap<string, string> | undefined) =>
  names === undefined
    ? { day: group }
    : { id: group === noKey ? null : group, name: names.get(group) ?? null }

const todayStatement = lookup(
  'daily-usage.findToday',
  `select to_char(now() at time zone (policy ->> 'time_zone'), 'YYYY-MM-DD') as today,
          policy ->> 'time_zone' as time_zone
     from organizations
    where id = $1`,
)

const findToday = async (db: Queryable, organizationId: OrganizationId) => {
  const row = await db.row<{ today: string; time_zone: string }>(todayStatement, [organizationId])
  if (!row) throw new OperatorError(`There is no organization ${organizationId}.`)
  return row
}

const checkRange = (from: string, to: string): void => {
  if (!isDay(from) || !isDay(to)) throw new OperatorError('A day is written as 2026-11-23.')
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1
  if (days < 1 || days > maxDays)
    throw new OperatorError(
      `Usage is shown for 1 to ${maxDays} days; the first is not after the last.`,
    )
}

const isDay = (text: string): boolean =>
  /^(?:19|20)\d\d-\d\d-\d\d$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text)

const addDays = (day: string, days: number): string =>
  isDay(day) ? new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10) : day

const nameStatements = {
  agent: list(
    'daily-usage.findAgentNames',
    `select id, name from agents where organization_id = $1`,
  ),
  key: list('daily-usage.findKeyNames', `select id, name from api_keys where organization_id = $1`),
} as const

const findNames = async (
  db: Queryable,
  organizationId: OrganizationId,
  by: 'agent' | 'key',
): Promise<ReadonlyMap<string, string>> => {
  const rows = await db.rows<{ id: string; name: string }>(nameStatements[by], [organizationId])
  return new Map(rows.map(({ id, name }) => [id, name]))
}
