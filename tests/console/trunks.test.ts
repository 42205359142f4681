import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { administerInstallation } from '../../src/identity/account-store.ts'
import { startComposedConsole } from '../support/composed-console.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>

before(async () => {
  app = await startComposedConsole()
})
after(() => app.stop())

const settings = { uris: ['sip:pbx.example'], user: 'acct', channels: 3 }

test('trunks are for the account that administers the installation, and show no password', async () => {
  const { id } = await app.createOrganization('Telephony')
  for (const role of ['owner', 'admin', 'viewer'] as const) {
    const { browser } = await app.signInAs(id, role, `${role}@trunks.test`)
    assert.equal((await browser.send('GET', '/console/trunks')).status, 403, role)
    const body = { name: 'a', settings }
    assert.equal((await browser.send('POST', '/console/trunks', body)).status, 403, role)
  }
  const { browser, accountId } = await app.signInAs(id, 'owner', 'first@trunks.test')
  await app.db.transaction((tx) => administerInstallation(tx, accountId))
  const send = async (method: string, path: string, body?: object) => {
    const answer = await browser.send(method, `/console/trunks${path}`, body)
    assert.ok(!JSON.stringify(answer).includes('pass word'), 'the password is shown')
    return answer
  }
  const added = await send('POST', '', { name: 'carrier', settings, password: 'pass word' })
  assert.equal(added.status, 201, JSON.stringify(added))
  const refused = await send('POST', '', { name: 'b', settings: { uris: ['sip:u:p@a'] } })
  assert.deepEqual([refused.status, refused.code], [400, 'validation_error'])
  assert.equal((await send('POST', '', { name: 'carrier', settings })).status, 409)

  const changed = await send('PATCH', '/carrier', {
    settings: { channels: null, countries: ['DE'] },
  })
  assert.equal(changed.status, 200, JSON.stringify(changed))
  const paused = await send('POST', '/carrier/pause', { paused: true })
  assert.equal(paused.status, 200)
  const { status, body } = await send('GET', '')
  assert.equal(status, 200)
  const [shown] = (body as { data: Record<string, unknown>[] }).data
  assert.deepEqual(
    [shown?.['state'], shown?.['has_password'], shown?.['channels'], shown?.['cps']],
    ['paused', true, null, 10],
  )
  assert.equal((await send('GET', '/carrier/test')).status, 200)
  const [pem, key] = ['-----BEGIN CERTIFICATE-----\nAA\n', '-----BEGIN PRIVATE KEY-----\nBB\n']
  const whole = await send('PATCH', '/carrier', {
    settings: { redirect_to: ['edge.example'], tls: { certificate: pem, verify: false } },
    tls_key: key,
  })
  assert.equal(whole.status, 200, JSON.stringify(whole))
  assert.ok(!JSON.stringify(whole.body).includes('PRIVATE KEY'))
  assert.equal(whole.body['has_tls_key'], true)
  const set = whole.body['settings'] as Record<string, unknown>
  assert.deepEqual(
    [set['redirect_to'], set['tls']],
    [['edge.example'], { certificate: pem, min_version: 'TLSv1.2', verify: false }],
  )
  const halved = await send('PATCH', '/carrier', { settings: { tls: null } })
  assert.equal(halved.status, 400, JSON.stringify(halved))
  const bare = await send('PATCH', '/carrier', { settings: { tls: null }, tls_key: null })
  assert.equal(bare.body['has_tls_key'], false)
  assert.equal((await send('POST', '/carrier/remove', {})).status, 200)
  assert.equal((await send('POST', '/carrier/remove', {})).status, 409)
})
