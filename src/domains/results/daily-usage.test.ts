import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newId } from '../../runtime/ids.ts'
import {
  createOrganizationFixture,
  type OrganizationFixture,
} from '../../../tests/support/organization-fixture.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { createApiKey } from '../api-keys/create-api-key.ts'
import { setPrices } from './call-prices.ts'
import { addModelCost, countUsage } from './count-usage.ts'
import { readUsage } from './daily-usage.ts'
import { usageTable } from './usage-table.ts'
import { insertUsage } from './usage-store.ts'

let test: TestDatabase

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

interface Ended {
  readonly at: string
  readonly seconds?: number
  readonly answer?: string
  readonly key?: string
}

/** A call that was dialled and ended, and counted. */
const end = async (
  fixture: OrganizationFixture,
  { at, seconds = 0, answer = 'no_answer', key }: Ended,
): Promise<string> => {
  const { organizationId } = fixture
  const callId = await fixture.placeCall()
  await execute(
    test.db,
    `update calls
        set status = 'completed', dialing_at = $3::timestamptz, ended_at = $3::timestamptz,
            answer_status = $4, duration_seconds = $5, api_key_id = $6
      where organization_id = $1 and id = $2`,
    [organizationId, callId, at, answer, seconds, key ?? null],
  )
  await insertUsage(test.db, { organizationId, callId }, { ...model, purpose: 'conversation' })
  await count(organizationId, [callId])
  return callId
}

const model = {
  engine: 'realtime',
  provider: 'p',
  model: 'm',
  inputTokens: 1,
  outputTokens: 1,
  audioInMs: 1,
  audioOutMs: 1,
  costMicrousd: 20_000,
  firstWordsMs: undefined,
} as const

const count = (organizationId: OrganizationFixture['organizationId'], ids: readonly string[]) =>
  test.db.transaction((tx) => countUsage(tx, organizationId, ids))

const november = { from: '2026-11-01', to: '2026-11-30' }

describe('usage', () => {
  it('counts calls on the day they were dialled, in the organization’s zone', async () => {
    const ours = await createOrganizationFixture(test.db)
    await end(ours, { at: '2026-11-10T04:59:59Z', answer: 'answered', seconds: 90 })
    await end(ours, { at: '2026-11-10T05:00:01Z' })
    await end(ours, { at: '2026-11-10T12:00:00Z', answer: 'voicemail', seconds: 30 })
    const {
      data,
      total,
      time_zone: zone,
    } = await readUsage(test.db, ours.organizationId, 'day', november)
    assert.equal(zone, 'America/New_York')
    assert.deepEqual(
      data.map(({ day, calls, answered, minutes }) => [day, calls, answered, minutes]),
      [
        ['2026-11-10', 2, 0, 0.5],
        ['2026-11-09', 1, 1, 1.5],
      ],
    )
    assert.deepEqual([total.calls, total.minutes, total.model_cost_usd], [3, 2, 0.06])
    assert.equal('cost' in total, false)
  })

  it('goes to the key of the call, or of its batch or run', async () => {
    const ours = await createOrganizationFixture(test.db)
    const { organizationId } = ours
    const key = (name: string) => createApiKey(test.db, { organizationId, name, scopes: 'all' })
    const [shop, mail] = [await key('Shop'), await key('=Mail')]
    const at = '2026-11-10T12:00:00Z'
    await end(ours, { at, key: shop.id })
    await end(ours, { at, key: shop.id, answer: 'answered', seconds: 60 })
    await end(ours, { at })
    const batchId = newId()
    await execute(
      test.db,
      `insert into batches (organization_id, id, origin, name, agent_id, total_recipients, api_key_id)
       values ($1, $2, 'api', 'B', $3, 1, $4)`,
      [organizationId, batchId, ours.agentId, mail.id],
    )
    const ofBatch = await ours.placeCall()
    await execute(
      test.db,
      `update calls set status = 'failed', dialing_at = $4::timestamptz, ended_at = now(), batch_id = $3
        where organization_id = $1 and id = $2`,
      [organizationId, ofBatch, batchId, at],
    )
    await count(organizationId, [ofBatch])
    const usage = await readUsage(test.db, organizationId, 'key', november)
    assert.deepEqual(
      usage.data
        .map(({ id, name, calls }) => [id, name, calls])
        .toSorted(
          (a, b) => Number(b[2]) - Number(a[2]) || String(a[0]).localeCompare(String(b[0])),
        ),
      [
        [shop.id, 'Shop', 2],
        [mail.id, '=Mail', 1],
        [null, null, 1],
      ].toSorted((a, b) => Number(b[2]) - Number(a[2]) || String(a[0]).localeCompare(String(b[0]))),
    )
    assert.equal(usageTable(usage).rows.at(-1)?.[0], 'total')
    const byAgent = await readUsage(test.db, organizationId, 'agent', november)
    assert.deepEqual(
      byAgent.data.map(({ id, calls }) => [id, calls]),
      [[ours.agentId, 4]],
    )
  })

  it('costs what the administrator set, and the summary’s model too', async () => {
    const ours = await createOrganizationFixture(test.db)
    const { organizationId } = ours
    const at = '2026-11-10T12:00:00Z'
    const callId = await end(ours, { at, answer: 'answered', seconds: 90 })
    await addModelCost(test.db, { organizationId, callId }, 5_000)
    const set = (prices: Parameters<typeof setPrices>[2]) =>
      test.db.transaction((tx) => setPrices(tx, organizationId, prices))
    await set({ currency: 'EUR', per_call: 0.01, per_minute: 0.02 })
    const usage = await readUsage(test.db, organizationId, 'day', november)
    assert.deepEqual([usage.currency, usage.total.cost], ['EUR', 0.04])
    assert.equal(usage.total.model_cost_usd, 0.025)
    for (const wrong of [
      { currency: 'euro', per_call: 0, per_minute: 0 },
      { currency: 'EUR', per_call: -1, per_minute: 0 },
      { currency: 'EUR', per_call: 0, per_minute: Number.NaN },
    ])
      await assert.rejects(set(wrong), /currency|price/)
    await set(undefined)
    assert.equal((await readUsage(test.db, organizationId, 'day', november)).currency, undefined)
  })

  it('counts nothing of calls that were never dialled, and loses none that end at once', async () => {
    const ours = await createOrganizationFixture(test.db)
    const { organizationId } = ours
    await count(organizationId, [await ours.placeCall()])
    assert.equal((await readUsage(test.db, organizationId, 'day')).total.calls, 0)
    const ids = await Promise.all(Array.from({ length: 24 }, () => ours.placeCall()))
    await execute(
      test.db,
      `update calls set status = 'completed', dialing_at = now(), ended_at = now(), duration_seconds = 6
        where organization_id = $1 and id = any($2)`,
      [organizationId, ids],
    )
    await Promise.all(ids.map((id) => count(organizationId, [id])))
    const { total } = await readUsage(test.db, organizationId, 'day')
    assert.deepEqual([total.calls, total.minutes], [24, 2.4])
    const other = await createOrganizationFixture(test.db)
    assert.deepEqual((await readUsage(test.db, other.organizationId, 'agent')).data, [])
  })

  it('refuses ranges that are none', async () => {
    const { organizationId } = await createOrganizationFixture(test.db)
    for (const range of [
      { from: '2026-11-31', to: '2026-12-01' },
      { from: '2026-11-02', to: '2026-11-01' },
      { from: '2024-01-01', to: '2026-01-01' },
      { to: '0000-00-00' },
      { to: "2026-01-01'" },
      { from: '9999-99-99' },
    ])
      await assert.rejects(readUsage(test.db, organizationId, 'day', range), /day/)
  })
})
