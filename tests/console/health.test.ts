import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config/read-config.ts'
import { administerInstallation } from '../../src/identity/account-store.ts'
import { createHealth } from '../../src/operator/health/installation-health.ts'
import { newId } from '../../src/runtime/ids.ts'
import { systemTime } from '../../src/runtime/time.ts'
import { startComposedConsole } from '../support/composed-console.ts'
import { freeTcpPort, freeUdpPort } from '../support/free-port.ts'
import { createOrganizationFixture } from '../support/organization-fixture.ts'
import { execute, insertNode } from '../support/queue-fixtures.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>

before(async () => {
  app = await startComposedConsole()
})
after(() => app.stop())

test('health is for the account that administers the installation, whatever the role of others', async () => {
  const { id } = await app.createOrganization('Healthy')
  for (const role of ['owner', 'admin', 'operator', 'viewer'] as const) {
    const { browser } = await app.signInAs(id, role, `${role}@health.test`)
    const refused = await browser.send('GET', '/console/system/health')
    assert.deepEqual([refused.status, refused.code], [403, 'insufficient_scope'], role)
  }
  const first = await app.signInAs(id, 'viewer', 'first@health.test')
  await app.db.transaction((tx) => administerInstallation(tx, first.accountId))
  assert.equal((await first.browser.send('GET', '/console/system/health')).status, 200)
})

test('health shows nodes, an open circuit and the queue, and no secret', async () => {
  const { db } = app
  const organization = await createOrganizationFixture(db)
  await organization.placeCall()
  const lost = newId()
  await insertNode(db, newId())
  await insertNode(db, lost)
  await execute(
    db,
    `update nodes set name = 'lost', lease_until = now() - interval '9 s' where id = $1`,
    [lost],
  )
  await execute(
    db,
    `insert into trunks (name, calls_per_second) values ('carrier', 1)
         on conflict do nothing`,
  )
  await execute(
    db,
    `insert into trunk_gateways (trunk, uri, position, down_since, down_cause, down_reason, retry_at)
     values ('carrier', 'sip:a.example', 0, now(), 'unreachable', 'It is silent.', now()),
            ('carrier', 'sip:b.example', 1, null, null, null, null)`,
  )
  const config = readConfig({
    OUTDIAL_SIP_TRUNK: `sip:user:topsecret@127.0.0.1:${await freeUdpPort()}`,
    OUTDIAL_CALLER_ID: '+12025550100',
    OUTDIAL_API_PORT: String(await freeTcpPort()),
    OUTDIAL_DASHBOARD_PORT: String(await freeTcpPort()),
    OUTDIAL_MEDIA_PORT: String(await freeTcpPort()),
    DATABASE_URL: 'postgres://someone:topsecret@127.0.0.1/outdial',
  })
  const health = createHealth({ config, database: db, clock: systemTime })
  const [one, two] = await Promise.all([health(), health()])
  assert.equal(one, two)
  assert.deepEqual(
    one.nodes.map(({ name, state, lease_seconds: seconds }) => [name, state, seconds < 0]),
    [
      ['lost', 'lost', true],
      ['test', 'running', false],
    ],
  )
  assert.deepEqual(
    one.trunks
      .filter(({ name }) => name === 'carrier')
      .map(({ gateway, circuit, reason }) => [gateway, circuit, reason]),
    [
      ['sip:a.example', 'open', 'It is silent.'],
      ['sip:b.example', 'closed', null],
    ],
  )
  assert.equal(one.queue.calls, 1)
  assert.ok(one.queue.oldest_queued_at)
  assert.ok(one.database.size_bytes > 0)
  assert.ok(one.findings.some(({ check, status }) => check === 'trunk' && status === 'failed'))
  assert.doesNotMatch(JSON.stringify(one), /topsecret|someone/)
})
