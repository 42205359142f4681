import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Role } from '../../src/contract/roles.ts'
import { sql } from '../../src/database/database.ts'
import { createApiKey } from '../../src/domains/api-keys/create-api-key.ts'
import { startComposedConsole } from '../support/composed-console.ts'
import { minimalAgentFile } from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>

before(async () => {
  app = await startComposedConsole()
})
after(() => app.stop())

test('each change stands in the audit log with who, from where and what, without secrets', async () => {
  const { id } = await app.createOrganization('Audited')
  const { browser } = await app.signInAs(id, 'owner', 'auditor@own.test')
  const made = await browser.send('POST', '/console/api-keys', {
    name: 'A key',
    scopes: ['calls:read'],
  })
  const secret = String(made.body['secret'])
  await browser.send('POST', `/console/api-keys/${String(made.body['id'])}/revoke`, {})
  const agent = await browser.send('POST', '/console/agents', minimalAgentFile)
  const policy = await browser.send('GET', '/console/policy')
  await browser.send('PATCH', '/console/policy', { ...policy.body, time_zone: 'Europe/Berlin' })
  assert.equal(agent.status, 201)
  // A refused change leaves no entry.
  await browser.send('PATCH', '/console/policy', { time_zone: 'Mars' })

  const { body } = await browser.send('GET', '/console/audit')
  const entries = body['data'] as Record<string, unknown>[]
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['policy.change', 'agent.create', 'api_key.revoke', 'api_key.create', 'session.open'],
  )
  const [changed] = entries
  assert.ok(changed)
  assert.deepEqual((changed['actor'] as { name: string }).name, 'auditor@own.test')
  assert.equal(changed['address'], '198.51.100.1')
  assert.equal((changed['before'] as { time_zone: string }).time_zone, 'America/New_York')
  assert.equal((changed['after'] as { time_zone: string }).time_zone, 'Europe/Berlin')
  assert.ok(!JSON.stringify(entries).includes(secret))
  const filtered = await browser.send('GET', '/console/audit?target_type=api_key&limit=1')
  assert.equal((filtered.body['data'] as unknown[]).length, 1)
  const next = String(filtered.body['next_cursor'])
  const second = await browser.send('GET', `/console/audit?target_type=api_key&cursor=${next}`)
  assert.equal((second.body['data'] as { action: string }[])[0]?.action, 'api_key.create')
  const exported = await browser.send('GET', '/console/audit/export?action=policy.change')
  assert.equal(String(exported.body['csv']).trim().split('\n').length, 2)
  await assert.rejects(
    app.db.run(sql('test.rewrite', `update audit_entries set action = 'x'`), []),
    /append-only/,
  )
  await assert.rejects(
    app.db.run(sql('test.erase', `delete from audit_entries`), []),
    /append-only/,
  )
})

test('PATCH /api-keys on the API’s port is for sessions of administrators from the dashboard', async () => {
  const { id } = await app.createOrganization('Keys')
  const key = await createApiKey(app.db, { organizationId: id, name: 'Old', scopes: 'all' })
  const path = `/api-keys/${key.id}`
  const at = async (role: Role) => {
    const { browser } = await app.signInAs(id, role, `${role}@keys.test`)
    const there = app.browse('198.51.100.1', app.apiUrl)
    there.cookie = browser.cookie
    return there
  }
  const admin = await at('admin')
  const renamed = await admin.send('PATCH', path, { name: 'New' })
  assert.deepEqual([renamed.status, renamed.body['name']], [200, 'New'])
  const evil = { origin: 'http://evil.test' }
  assert.equal((await admin.send('PATCH', path, { name: 'No' }, evil)).status, 403)
  assert.equal((await (await at('operator')).send('PATCH', path, { name: 'No' })).status, 403)
  const nobody = app.browse('198.51.100.1', app.apiUrl)
  assert.equal((await nobody.send('PATCH', path, { name: 'No' })).status, 401)
  const bearer = { authorization: `Bearer ${key.secret}` }
  assert.equal((await nobody.send('PATCH', path, { name: 'No' }, bearer)).status, 403)
  assert.equal((await admin.send('PATCH', path, { name: 'No' }, bearer)).status, 403)
  const other = await app.createOrganization('Other')
  const theirs = await createApiKey(app.db, { organizationId: other.id, name: 'A', scopes: 'all' })
  const foreign = await admin.send('PATCH', `/api-keys/${theirs.id}`, { name: 'No' })
  assert.equal(foreign.status, 404)
  assert.equal((await admin.send('GET', '/calls')).status, 403)
})
