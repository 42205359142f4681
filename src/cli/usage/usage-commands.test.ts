import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { captureCli } from '../../../tests/support/cli/capture-cli.ts'
import {
  createOrganizationFixture,
  type OrganizationFixture,
} from '../../../tests/support/organization-fixture.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { Usage } from '../../domains/results/daily-usage.ts'
import { addUsageCommands } from './usage-commands.ts'

let database: TestDatabase
let ours: OrganizationFixture

before(async () => {
  database = await createTestDatabase()
  ours = await createOrganizationFixture(database.db)
  await execute(
    database.db,
    `insert into daily_usage (organization_id, day, agent_id, api_key_id, slot, calls, answered, connected_seconds,
                              model_cost_microusd)
     select $1, '2026-11-10'::date + n, $2, '00000000-0000-0000-0000-000000000000', slot, 2, 1, 90, 0
       from generate_series(0, 1) n cross join generate_series(0, 3) slot`,
    [ours.organizationId, ours.agentId],
  )
})
after(() => database.drop())

const outdial = (...args: string[]) =>
  captureCli(['usage', ...args, '--org', ours.organizationId], [addUsageCommands], {
    db: database.db,
    settings: {},
  })

const november = ['--from', '2026-11-01', '--to', '2026-11-30']

test('usage is printed as a table, as JSON and as CSV', async () => {
  const { status, stdout, stderr } = await outdial(...november, '--json')
  assert.equal(status, 0, stderr)
  const used = JSON.parse(stdout) as Usage
  assert.deepEqual(
    used.data.map(({ day, calls, minutes }) => [day, calls, minutes]),
    [
      ['2026-11-11', 8, 6],
      ['2026-11-10', 8, 6],
    ],
  )
  assert.match((await outdial(...november)).stdout, /^total +16 +8 +12/m)
  const csv = (await outdial(...november, '--by', 'key', '--csv')).stdout
  assert.match(csv, /^key_id,key,calls,answered,minutes,model_cost_usd\n,no key,16,8,12,0\n/)
  assert.match((await outdial('--to', '2020-01-01')).stdout, /No call was dialled/)
})

test('prices are set, shown, kept where they are not named, and forgotten', async () => {
  assert.equal((await outdial('prices', '--per-call', '0.1')).status, 2)
  const set = await outdial('prices', '--currency', 'EUR', '--per-minute', '0.02', '--json')
  assert.deepEqual(JSON.parse(set.stdout), { currency: 'EUR', per_call: 0, per_minute: 0.02 })
  await outdial('prices', '--per-call', '0.1')
  const used = JSON.parse((await outdial(...november, '--json')).stdout) as Usage
  assert.deepEqual([used.currency, used.total.cost], ['EUR', 1.84])
  assert.match((await outdial('prices')).stdout, /currency +EUR/)
  assert.match((await outdial('prices', '--off')).stdout, /no prices/)
  const audit = await execute(database.db, 'select action from audit_entries')
  assert.equal(audit.length, 3)
})

test('a wrong day, price or grouping is refused', async () => {
  assert.equal((await outdial('--from', 'yesterday')).status, 1)
  assert.equal((await outdial('--by', 'phone')).status, 2)
  assert.equal((await outdial('prices', '--per-call', '-1', '--currency', 'EUR')).status, 2)
  assert.equal((await outdial('prices', '--currency', 'euro')).status, 1)
})
