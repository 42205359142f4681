import type { OrganizationId } from '../../src/contract/organization-id.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/database.ts'
import { makeSetupSecret } from '../../src/identity/setup-store.ts'
import {
  consoleOrigin,
  consolePassword,
  startComposedConsole,
  type Browser,
} from '../support/composed-console.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let owner: Browser

before(async () => {
  app = await startComposedConsole()
  organizationId = (await app.createOrganization('Sandbox')).id
})
after(() => app.stop())

const here = async (browser: Browser) => (await browser.send('GET', '/console/session')).status

test('the setup link makes a live organization and its owner, once, also when it is used twice at once', async () => {
  const secret = await makeSetupSecret(app.db)
  const input = {
    secret,
    organization: 'Analytical Engines',
    name: 'Ada',
    email: 'Ada@Example.test',
    password: consolePassword,
  }
  const wrong = { ...input, secret: 'x'.repeat(43) }
  assert.equal((await app.browse().send('POST', '/console/setup', wrong)).status, 404)
  const browsers = [app.browse(), app.browse()]
  const tries = await Promise.all(
    browsers.map((browser, at) =>
      browser.send('POST', '/console/setup', { ...input, email: `a${at}@example.test` }),
    ),
  )
  assert.deepEqual(new Set(tries.map(({ status }) => status)), new Set([201, 404]))
  const [first] = browsers.filter((_, at) => tries[at]?.status === 201)
  assert.ok(first)
  owner = first
  const { body } = await owner.send('GET', '/console/session')
  const organizations = body['organizations'] as { name: string; mode: string; role: string }[]
  assert.deepEqual(
    new Map(organizations.map(({ name, role }) => [name, role])),
    new Map([
      ['Analytical Engines', 'owner'],
      ['Sandbox', 'owner'],
    ]),
  )
  assert.equal(organizations.find(({ name }) => name === 'Analytical Engines')?.mode, 'live')
  assert.equal((body['account'] as Record<string, unknown>)['administers_installation'], true)
  assert.equal(await makeSetupSecret(app.db), undefined)
  await owner.send('POST', '/console/session/organization', { organization_id: organizationId })
})

test('the cookie is for this host, no program and no foreign page', async () => {
  await app.signInAs(organizationId, 'admin', 'cookie@example.test')
  const answer = await app.browse().send('POST', '/console/session', {
    email: 'cookie@example.test',
    password: consolePassword,
  })
  const [cookie = ''] = answer.headers.getSetCookie()
  assert.match(
    cookie,
    /^outdial_session=[^;]{40,}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
  )
})

test('over https the cookie is for https only, and so is the host', async () => {
  const secure = await startComposedConsole('https://calls.test')
  try {
    const { id } = await secure.createOrganization('Secure')
    await secure.signInAs(id, 'admin', 'secure@example.test')
    const answer = await secure.browse().send('POST', '/console/session', {
      email: 'secure@example.test',
      password: consolePassword,
    })
    const [cookie = ''] = answer.headers.getSetCookie()
    assert.match(cookie, /; HttpOnly; SameSite=Lax; Secure$/)
    assert.match(answer.headers.get('strict-transport-security') ?? '', /^max-age=\d+/)
  } finally {
    await secure.stop()
  }
})

test('a session that the browser brought along is not the one that is opened', async () => {
  const { browser } = await app.signInAs(organizationId, 'admin', 'fixed@example.test')
  const before = browser.cookie
  await browser.send('POST', '/console/session', {
    email: 'fixed@example.test',
    password: consolePassword,
  })
  assert.notEqual(browser.cookie, before)
  // A cookie that somebody planted before the sign-in opens nothing after it.
  const planted = `outdial_session=${'p'.repeat(32)}.${'q'.repeat(43)}%3D`
  const victim = app.browse()
  victim.cookie = planted
  await victim.send('POST', '/console/session', {
    email: 'fixed@example.test',
    password: consolePassword,
  })
  assert.equal(await here(victim), 200)
  const attacker = app.browse()
  attacker.cookie = planted
  assert.equal(await here(attacker), 401)
  // Another password ends what was opened with the old one, and opens a session of another name.
  const opened = victim.cookie
  const change = { current: consolePassword, password: 'another password' }
  assert.equal((await victim.send('POST', '/console/account/password', change)).status, 200)
  assert.notEqual(victim.cookie, opened)
  attacker.cookie = opened
  assert.equal(await here(attacker), 401)
})

test('an altered, cut and invented cookie open nothing', async () => {
  const { browser } = await app.signInAs(organizationId, 'admin', 'altered@example.test')
  const { cookie = '' } = browser
  for (const forged of [cookie.replace('=', '=x'), cookie.slice(0, 30), `${cookie.slice(0, 40)}`]) {
    browser.cookie = forged.slice(0, 46)
    if (browser.cookie !== cookie.slice(0, 46)) assert.equal(await here(browser), 401)
  }
})

test('sign-out, removal, another role and idleness end a session from the next request on', async () => {
  const out = await app.signInAs(organizationId, 'admin', 'out@example.test')
  assert.equal((await out.browser.send('DELETE', '/console/session')).status, 200)
  assert.equal(await here(out.browser), 401)

  const demoted = await app.signInAs(organizationId, 'admin', 'demoted@example.test')
  const path = `/console/members/${demoted.accountId}`
  assert.equal((await owner.send('PATCH', path, { role: 'viewer' })).status, 200)
  assert.equal(await here(demoted.browser), 401)

  const removed = await app.signInAs(organizationId, 'operator', 'removed@example.test')
  assert.equal((await owner.send('DELETE', `/console/members/${removed.accountId}`)).status, 200)
  assert.equal(await here(removed.browser), 401)

  const idle = await app.signInAs(organizationId, 'operator', 'idle@example.test')
  const age = (column: string, interval: string) =>
    app.db.run(
      sql(
        `test.${column} ${interval}`,
        `update account_sessions set ${column} = now() - interval '${interval}' where user_id = $1`,
      ),
      [idle.accountId],
    )
  await age('last_seen_at', '11 hours 59 minutes')
  assert.equal(await here(idle.browser), 200)
  await age('last_seen_at', '12 hours 1 second')
  assert.equal(await here(idle.browser), 401)
  await age('last_seen_at', '1 second')
  await age('expires_at', '1 second')
  assert.equal(await here(idle.browser), 401)
})

test('the lock-out counts the address that a trusted proxy forwards, and names when it ends', async () => {
  await app.signInAs(organizationId, 'admin', 'locked@example.test')
  const credentials = { email: 'locked@example.test', password: 'not the password' }
  const from = app.browse('203.0.113.9')
  for (let tries = 0; tries < 10; tries += 1)
    assert.equal((await from.send('POST', '/console/session', credentials)).status, 401)
  const right = { ...credentials, password: consolePassword }
  const locked = await from.send('POST', '/console/session', right)
  assert.equal(locked.code, 'rate_limit_exceeded')
  const seconds = Number(locked.headers.get('retry-after'))
  assert.ok(seconds > 500 && seconds <= 600, String(seconds))
  assert.equal((await app.browse().send('POST', '/console/session', right)).status, 200)
})

test('an invitation is accepted once, by its secret alone, and gives its role', async () => {
  const made = await owner.send('POST', '/console/invitations', {
    email: 'New@Example.test',
    role: 'viewer',
  })
  assert.equal(made.status, 201)
  const link = String(made.body['link'])
  const secret = link.slice(`${consoleOrigin}/invite/`.length)
  const shown = await app.browse().send('POST', '/console/invitations/check', { secret })
  assert.deepEqual(
    [shown.body['email'], shown.body['role'], shown.body['has_account']],
    ['new@example.test', 'viewer', false],
  )
  const accept = { secret, name: 'New', password: consolePassword }
  const guess = { ...accept, secret: 'A'.repeat(43) }
  assert.equal((await app.browse().send('POST', '/console/invitations/accept', guess)).status, 404)
  const browsers = [app.browse(), app.browse()]
  const tries = await Promise.all(
    browsers.map((each) => each.send('POST', '/console/invitations/accept', accept)),
  )
  assert.equal(tries.filter(({ status }) => status === 200).length, 1)
  const joined = browsers[tries.findIndex(({ status }) => status === 200)]
  assert.equal((await joined?.send('GET', '/console/session'))?.body['role'], 'viewer')
  const again = await app.browse().send('POST', '/console/invitations/accept', accept)
  assert.equal(again.status, 404)
})

test('a known account joins a second organization with its own password', async () => {
  const other = await app.createOrganization('Other')
  const { browser } = await app.signInAs(other.id, 'owner', 'two@example.test')
  const made = await owner.send('POST', '/console/invitations', {
    email: 'two@example.test',
    role: 'operator',
  })
  const secret = String(made.body['link']).slice(`${consoleOrigin}/invite/`.length)
  const wrong = { secret, password: 'not the password' }
  assert.equal((await app.browse().send('POST', '/console/invitations/accept', wrong)).status, 401)
  const accept = { secret, password: consolePassword }
  assert.equal((await app.browse().send('POST', '/console/invitations/accept', accept)).status, 200)
  const choice = { organization_id: organizationId }
  assert.equal((await browser.send('POST', '/console/session/organization', choice)).status, 200)
  assert.equal((await browser.send('GET', '/console/session')).body['role'], 'operator')
})

test('an expired and a revoked invitation open nothing', async () => {
  const invite = async (email: string) => {
    const { body } = await owner.send('POST', '/console/invitations', { email, role: 'admin' })
    return { id: String(body['id']), secret: String(body['link']).split('/invite/')[1] }
  }
  const revoked = await invite('revoked@example.test')
  assert.equal((await owner.send('DELETE', `/console/invitations/${revoked.id}`)).status, 200)
  const expired = await invite('expired@example.test')
  await app.db.run(sql('test.expire', `update invitations set expires_at = now() where id = $1`), [
    expired.id,
  ])
  for (const { secret } of [revoked, expired]) {
    const body = { secret, name: 'X', password: consolePassword }
    assert.equal((await app.browse().send('POST', '/console/invitations/accept', body)).status, 404)
  }
})

test('the last owner stays, and an admin decides about no owner', async () => {
  const { body } = await owner.send('GET', '/console/session')
  const { id } = body['account'] as { id: string }
  const demote = await owner.send('PATCH', `/console/members/${id}`, { role: 'admin' })
  assert.equal(demote.code, 'resource_state_conflict')
  const admin = await app.signInAs(organizationId, 'admin', 'admin@example.test')
  assert.equal((await admin.browser.send('DELETE', `/console/members/${id}`)).status, 403)
  const self = `/console/members/${admin.accountId}`
  assert.equal((await admin.browser.send('PATCH', self, { role: 'owner' })).status, 403)
  const invite = { email: 'boss@example.test', role: 'owner' }
  assert.equal((await admin.browser.send('POST', '/console/invitations', invite)).status, 403)
})
