import { sql, type Database, type Queryable, type Transaction } from '../../database/database.ts'
import { paceAfterCongestion, paceAfterRise } from '../../domains/trunks/congestion-pace.ts'
import { pacingOf } from '../../domains/trunks/pacing.ts'
import type { GatewayKey } from './circuit-store.ts'

/*
 * The pace of a congested trunk, one for all nodes: each change is a compare and set of what `congestion-pace.ts` makes
 * of the row. A trigger carries it to the trunk's route.
 */

const lockStatement = sql(
  'pace-store.lockTrunk',
  `select t.calls_per_second, t.paced_per_second,
          coalesce(t.congested_at >= clock_timestamp() - $3 * interval '1 millisecond', false) as is_known,
          exists (select from trunk_gateways g
                   where g.trunk = t.name and g.uri <> $2 and g.down_since is null) as has_other
     from trunks t
    where t.name = $1
      for no key update`,
)

interface LockedTrunk {
  readonly calls_per_second: number
  readonly paced_per_second: number | null
  readonly is_known: boolean
  readonly has_other: boolean
}

// Without a token: the next call comes a whole interval of the new pace later.
const lowerStatement = sql(
  'pace-store.lowerPace',
  `update trunks
      set paced_per_second  = $2,
          burst             = $3,
          refill_per_second = $4,
          tokens            = least(0, tokens),
          refilled_at       = clock_timestamp(),
          congested_at      = clock_timestamp(),
          congested_since   = coalesce(congested_since, clock_timestamp()),
          congested_reason  = left($5, 500),
          raised_at         = null
    where name = $1`,
)

interface Refusal {
  /** One sentence. */
  readonly reason: string
  /** How long ago its call was dialled. */
  readonly ageMs: number
}

/**
 * A call was refused for congestion. `known`: it was dialled before the pace was lowered last. `has_other`: another
 * gateway of the trunk takes its calls, so that its pace stays.
 */
export const lowerPace = (
  db: Database,
  { trunk, uri }: GatewayKey,
  { reason, ageMs }: Refusal,
): Promise<
  | { readonly kind: 'known' | 'has_other' | 'gone' }
  | { readonly kind: 'lowered'; readonly isFirst: boolean; readonly perSecond: number }
> =>
  db.transaction(async (tx: Transaction) => {
    const row = await tx.row<LockedTrunk>(lockStatement, [trunk, uri, ageMs])
    if (row === undefined) return { kind: 'gone' }
    if (row.has_other) return { kind: 'has_other' }
    if (row.is_known) return { kind: 'known' }
    const perSecond = paceAfterCongestion(paceOf(row))
    const { burst, refillPerSecond } = pacingOf(perSecond)
    await tx.run(lowerStatement, [trunk, perSecond, burst, refillPerSecond, reason])
    return { kind: 'lowered', isFirst: row.paced_per_second === null, perSecond }
  })

const paceOf = (row: Pick<LockedTrunk, 'calls_per_second' | 'paced_per_second'>) => ({
  fullPerSecond: row.calls_per_second,
  pacedPerSecond: row.paced_per_second ?? undefined,
})

const releaseStatement = sql(
  'pace-store.releasePace',
  `update trunks
      set raised_at = clock_timestamp()
    where name = $1
      and paced_per_second is not null
      and raised_at is null`,
)

/** The carrier took a call: from now on the pace rises. */
export const releasePace = async (db: Queryable, trunk: string): Promise<boolean> =>
  (await db.run(releaseStatement, [trunk])) > 0

const risingStatement = sql(
  'pace-store.findRising',
  `select name, calls_per_second, paced_per_second, raised_at::text as raised_at,
          1000 * extract(epoch from clock_timestamp() - raised_at)::double precision as elapsed_ms
     from trunks
    where paced_per_second is not null
      and raised_at <= clock_timestamp() - interval '1 second'`,
)

interface RisingRow {
  readonly name: string
  readonly calls_per_second: number
  readonly paced_per_second: number
  readonly raised_at: string
  readonly elapsed_ms: number
}

const raiseStatement = sql(
  'pace-store.raisePace',
  `update trunks
      set paced_per_second  = $3,
          burst             = $4,
          refill_per_second = $5,
          raised_at         = case when $3::double precision is null then null else clock_timestamp() end,
          congested_at      = case when $3::double precision is null then null else congested_at end,
          congested_since   = case when $3::double precision is null then null else congested_since end,
          congested_reason  = case when $3::double precision is null then null else congested_reason end
    where name = $1
      and raised_at = $2::timestamptz`,
)

/** One step up of each trunk whose carrier takes calls again, by one of the nodes. Returns those that are whole. */
export const raisePaces = async (db: Queryable): Promise<readonly string[]> => {
  const whole: string[] = []
  for (const row of await db.rows<RisingRow>(risingStatement, [])) {
    const perSecond = paceAfterRise(paceOf(row), row.elapsed_ms)
    const { burst, refillPerSecond } = pacingOf(perSecond ?? row.calls_per_second)
    const values = [row.name, row.raised_at, perSecond ?? null, burst, refillPerSecond]
    const isOurs = (await db.run(raiseStatement, values)) > 0
    if (isOurs && perSecond === undefined) whole.push(row.name)
  }
  return whole
}

const reportStatement = sql(
  'pace-store.reportPaces',
  `select name as trunk, calls_per_second, paced_per_second, congested_since as since, congested_reason as reason,
          raised_at is not null as is_rising
     from trunks
    where paced_per_second is not null
    order by name`,
)

/** A trunk with less than its whole pace, for people. */
export interface PaceReport {
  readonly trunk: string
  readonly calls_per_second: number
  readonly paced_per_second: number
  readonly since: Date
  readonly reason: string
  readonly is_rising: boolean
}

export const reportPaces = (db: Queryable): Promise<PaceReport[]> =>
  db.rows<PaceReport>(reportStatement, [])
