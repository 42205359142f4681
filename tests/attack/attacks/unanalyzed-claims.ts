import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../stage/attack.ts'
import { copyRows } from '../stage/copy-rows.ts'
import { openLiveCall } from '../stage/live-calls.ts'
import type { Stage } from '../stage/stage.ts'
import { openTenant } from '../stage/tenant.ts'

const queued = 50_000
/** A claim takes this many at once, so work per call happens this often. */
const concurrency = 40
const watched = 150
const claimLimitMs = 250
const watchTimeoutMs = 40_000
const sampleMs = 2
/** Only queued calls. */
const prefix = '+1646'

/** Fifty thousand queued calls in tables without statistics. */
export const unanalyzedClaims: Attack = {
  name: 'unanalyzed-claims',
  goal: 'claims from 50,000 calls in tables never analyzed take 250 ms at most',
  isLong: true,
  isTimed: true,
  async run(stage) {
    const { product, database, trunk, engine } = stage
    const tenant = await openTenant(product, 'Queueing')
    const { id: agentId = '' } = await tenant.publishAgent()
    // Only one line: the second call waits, and all its copies with it.
    await product.ask('org', 'set', tenant.id, '--concurrency', '1')
    const held = await openLiveCall({ trunk, engine, tenant, agentId }, stage.newNumber())
    const { body } = await tenant.call(agentId, `${prefix}2000000`, 'queued')
    let rung = 0
    trunk.plan(`${prefix}*`, async (call) => {
      rung += 1
      await call.respond('486 Busy Here')
    })
    await database.query('alter table calls set (autovacuum_enabled = false)')
    const phone = `'${prefix}' || (2000000 + n)`
    const differences = { id: 'gen_random_uuid()', phone_number: phone }
    await copyRows(database, { table: 'calls', id: body.id ?? '', count: queued, differences })
    await forgetStatistics(stage)
    await product.ask('org', 'set', tenant.id, '--concurrency', String(concurrency))
    const longestMs = await longestClaim(stage, () => rung >= watched)
    await held.leg.request('BYE')
    await database.query(
      `delete from calls where organization_id = $1 and status = 'queued' and lease_token is null`,
      [tenant.id],
    )
    await database.query('alter table calls reset (autovacuum_enabled)')
    await database.query('analyze calls')
    return {
      figure: `${rung} calls rang, the longest claim took ${longestMs.toFixed(0)} ms`,
      problems: [
        ...(longestMs > claimLimitMs ? [`a claim took ${longestMs.toFixed(0)} ms`] : []),
        ...(longestMs > 0 ? [] : ['no claim was observed']),
        ...(rung >= watched ? [] : [`only ${rung} of ${watched} calls rang`]),
      ],
    }
  },
}

/** PostgreSQL shows the first 1,024 characters of a statement; those of a claim do not reach its update. */
const claimStart = 'with recursive chosen as materialized'

/** The longest observed run of a claim; other statements on calls wait for each other in one organization. */
const longestClaim = async ({ database }: Stage, isDone: () => boolean): Promise<number> => {
  const deadline = performance.now() + watchTimeoutMs
  let longestMs = 0
  while (!isDone() && performance.now() < deadline) {
    const { rows } = await database.query<{ ms: number | null }>(
      `select extract(epoch from max(clock_timestamp() - query_start))::float8 * 1000 as ms
         from pg_stat_activity
        where datname = current_database() and state = 'active' and pid <> pg_backend_pid()
          and query like '${claimStart}%'`,
    )
    longestMs = Math.max(longestMs, rows[0]?.ms ?? 0)
    await delay(sampleMs)
  }
  return longestMs
}

const forgetStatistics = async ({ database }: Stage): Promise<void> => {
  await database.query(`delete from pg_statistic where starelid = 'calls'::regclass`)
  await database.query(
    `update pg_class set reltuples = -1, relpages = 0, relallvisible = 0 where oid = 'calls'::regclass`,
  )
}
