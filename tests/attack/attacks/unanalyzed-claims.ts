import { until } from '../../support/until.ts'
import type { Attack } from '../stage/attack.ts'
import { copyRows } from '../stage/copy-rows.ts'
import { openLiveCall } from '../stage/live-calls.ts'
import type { Stage } from '../stage/stage.ts'
import { openTenant } from '../stage/tenant.ts'

const queued = 50_000
const watched = 12
const claimLimitMs = 250
const watchTimeoutMs = 40_000
/** Of the queued calls alone. */
const prefix = '+1646'

/** Fifty thousand queued calls in tables about which PostgreSQL knows nothing yet. */
export const unanalyzedClaims: Attack = {
  name: 'unanalyzed-claims',
  goal: 'a call of 50,000 in tables never analyzed follows the one before within 250 ms',
  isLong: true,
  isTimed: true,
  async run(stage) {
    const { product, database, trunk, engine } = stage
    const tenant = await openTenant(product, 'Queueing')
    const { id: agentId = '' } = await tenant.publishAgent()
    // One line only: the second call waits, and all its copies with it.
    await product.ask('org', 'set', tenant.id, '--concurrency', '1')
    const held = await openLiveCall({ trunk, engine, tenant, agentId }, stage.newNumber())
    const { body } = await tenant.call(agentId, `${prefix}2000000`, 'queued')
    const rung: number[] = []
    trunk.plan(`${prefix}*`, async (call) => {
      rung.push(performance.now())
      await call.respond('486 Busy Here')
    })
    await database.query('alter table calls set (autovacuum_enabled = false)')
    const phone = `'${prefix}' || (2000000 + n)`
    const differences = { id: 'gen_random_uuid()', phone_number: phone }
    await copyRows(database, { table: 'calls', id: body.id ?? '', count: queued, differences })
    await forgetStatistics(stage)
    await held.leg.request('BYE')
    await until('calls of the queue', () => (rung.length >= watched ? true : undefined), {
      timeoutMs: watchTimeoutMs,
    }).catch(() => undefined)
    await database.query(
      `delete from calls where organization_id = $1 and status = 'queued' and lease_token is null`,
      [tenant.id],
    )
    await database.query('alter table calls reset (autovacuum_enabled)')
    await database.query('analyze calls')
    const gaps = rung.slice(1).map((atMs, index) => atMs - (rung[index] ?? 0))
    const median = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? Infinity
    return {
      figure: `${rung.length} calls, ${median.toFixed(0)} ms from one to the next`,
      problems: median > claimLimitMs ? [`a call took ${median.toFixed(0)} ms`] : [],
    }
  },
}

const forgetStatistics = async ({ database }: Stage): Promise<void> => {
  await database.query(`delete from pg_statistic where starelid = 'calls'::regclass`)
  await database.query(
    `update pg_class set reltuples = -1, relpages = 0, relallvisible = 0 where oid = 'calls'::regclass`,
  )
}
