import type { OrganizationId } from '../../src/contract/organization-id.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createAdministrator,
  listAdministrators,
  resetAdministrator,
} from '../../src/operator/administrators.ts'
import { prepareFirstAdmin } from '../../src/operator/first-admin.ts'
import { startComposedConsole } from '../support/composed-console.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId

before(async () => {
  app = await startComposedConsole()
  organizationId = (await app.createOrganization('First')).id
})
after(() => app.stop())

const signIn = (email: string, password: string) =>
  app.browse().send('POST', '/console/session', { email, password })

test('without settings a start gives a setup link, until the settings made the first owner', async () => {
  const { db, identity } = app
  const nothing = { email: undefined, password: undefined }
  const secret = await prepareFirstAdmin(db, identity, nothing)
  assert.ok(secret !== undefined && secret.length >= 40)
  const settings = { email: 'boss@first.test', password: 'first password' }
  assert.equal(await prepareFirstAdmin(db, identity, settings), undefined)
  assert.equal((await signIn('boss@first.test', 'first password')).status, 200)
  const check = await app.browse().send('POST', '/console/setup/check', { secret })
  assert.equal(check.body['status'], 'closed')
})

test('a later start with another password overwrites nothing', async () => {
  const changed = { email: 'boss@first.test', password: 'second password' }
  await prepareFirstAdmin(app.db, app.identity, changed)
  assert.equal((await signIn('boss@first.test', 'second password')).status, 401)
  assert.equal((await signIn('boss@first.test', 'first password')).status, 200)
})

test('an operator makes an account with a password, and adds a known one to another organization', async () => {
  const { db, identity } = app
  const person = {
    email: 'Ops@first.test',
    name: 'Ops',
    organizationId,
    role: 'operator',
    password: undefined,
  } as const
  const made = await createAdministrator(db, identity, person)
  assert.equal((await signIn('ops@first.test', made.password ?? '')).status, 200)
  await assert.rejects(createAdministrator(db, identity, person), /member of the organization/)
  const second = (await app.createOrganization('Second')).id
  const added = await createAdministrator(db, identity, {
    ...person,
    organizationId: second,
    role: 'admin',
  })
  assert.equal(added.password, undefined)
  const listed = (await listAdministrators(db)).find(({ email }) => email === 'ops@first.test')
  assert.deepEqual(listed?.memberships, [
    { organization_id: organizationId, role: 'operator' },
    { organization_id: second, role: 'admin' },
  ])
  assert.ok(listed?.last_seen_at !== undefined)
  const short = { ...person, email: 'short@first.test', password: 'short' }
  await assert.rejects(createAdministrator(db, identity, short), /8 to 128/)
})

test('a reset ends the sessions and is written down', async () => {
  const { db, identity } = app
  const { browser } = await app.signInAs(organizationId, 'admin', 'lost@first.test')
  const reset = await resetAdministrator(db, identity, 'lost@first.test', undefined)
  assert.equal((await browser.send('GET', '/console/session')).status, 401)
  const again = await signIn('lost@first.test', reset.password ?? '')
  assert.equal(again.status, 200)
  const owner = app.browse()
  await owner.send('POST', '/console/session', {
    email: 'boss@first.test',
    password: 'first password',
  })
  const audit = await owner.send('GET', '/console/audit?action=account.reset_password')
  const [entry] = audit.body['data'] as { actor: { kind: string }; address: null }[]
  assert.deepEqual([entry?.actor.kind, entry?.address], ['command_line', null])
  await assert.rejects(resetAdministrator(db, identity, 'no@first.test', undefined), /no account/)
})
