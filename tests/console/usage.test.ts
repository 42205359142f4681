import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiKey } from '../../src/domains/api-keys/create-api-key.ts'
import { countUsage } from '../../src/domains/results/count-usage.ts'
import { startComposedConsole } from '../support/composed-console.ts'
import { contactBody, createOrganizationFixture } from '../support/organization-fixture.ts'
import { execute } from '../support/queue-fixtures.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>

before(async () => {
  app = await startComposedConsole()
})
after(() => app.stop())

test('usage goes to the key that asked, costs what an administrator set, and exports no formula', async () => {
  const { organizationId, agentId } = await createOrganizationFixture(app.db)
  const key = await createApiKey(app.db, { organizationId, name: '=1+1', scopes: 'all' })
  const response = await fetch(`${app.apiUrl}/calls`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key.secret}`,
      'content-type': 'application/json',
      'idempotency-key': 'one',
    },
    body: JSON.stringify({ agent_id: agentId, recipient: contactBody() }),
  })
  const { id } = (await response.json()) as { id: string }
  await execute(
    app.db,
    `update calls set status = 'completed', dialing_at = now(), ended_at = now(), answer_status = 'answered',
            duration_seconds = 120
      where organization_id = $1 and id = $2`,
    [organizationId, id],
  )
  await app.db.transaction((tx) => countUsage(tx, organizationId, [id]))
  const { browser } = await app.signInAs(organizationId, 'admin', 'admin@usage.test')
  const prices = { currency: 'USD', per_call: 0.01, per_minute: 0.1 }
  const set = await browser.send('POST', '/console/usage/prices', { prices })
  assert.deepEqual([set.status, set.body['prices']], [200, prices])
  const { body } = await browser.send('GET', '/console/usage?by=key')
  assert.deepEqual(body['data'], [
    {
      id: key.id,
      name: '=1+1',
      calls: 1,
      answered: 1,
      minutes: 2,
      cost: 0.21,
      model_cost_usd: 0,
    },
  ])
  const exported = await browser.send('GET', '/console/usage/export?by=key')
  assert.match(String(exported.body['csv']), /,'=1\+1,1,1,2,0\.21,0\n/)
  const audit = await browser.send('GET', '/console/audit?action=call_prices.change')
  assert.equal((audit.body['data'] as unknown[]).length, 1)
  for (const wrong of ['from=2026-13-01', 'from=2026-02-02&to=2026-02-01', 'from=2020-01-01'])
    assert.equal((await browser.send('GET', `/console/usage?${wrong}`)).status, 409, wrong)
  const operator = await app.signInAs(organizationId, 'operator', 'operator@usage.test')
  const refused = await operator.browser.send('POST', '/console/usage/prices', { prices: null })
  assert.equal(refused.status, 403)
})
