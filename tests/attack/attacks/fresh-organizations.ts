import type { Attack } from '../stage/attack.ts'
import { copyRows } from '../stage/copy-rows.ts'

const organizations = 100_000
const name = 'Fresh'

/** A hundred thousand new organizations without a call. */
export const freshOrganizations: Attack = {
  name: 'fresh-organizations',
  goal: 'beside 100,000 fresh organizations a call rings within 5 s',
  isLong: true,
  async run(stage, limits) {
    const { database, tenant, trunk, agentId } = stage
    const differences = { id: 'gen_random_uuid()', name: `'${name}'` }
    await copyRows(database, {
      table: 'organizations',
      id: tenant.id,
      count: organizations,
      differences,
    })
    const number = stage.newNumber()
    const startedMs = performance.now()
    await tenant.call(agentId, number, 'fresh')
    const rung = await trunk.callTo(number, limits.ringMs * 4).catch(() => undefined)
    const tookMs = performance.now() - startedMs
    await rung?.request('BYE')
    await database.query(
      `delete from dispatch_organizations where organization_id in
         (select id from organizations where name = $1)`,
      [name],
    )
    await database.query('delete from organizations where name = $1', [name])
    return {
      figure: `the next call rang after ${tookMs.toFixed(0)} ms`,
      problems: tookMs > limits.ringMs ? [`it took ${tookMs.toFixed(0)} ms`] : [],
    }
  },
}
