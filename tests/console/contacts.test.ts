import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import type { Role } from '../../src/contract/roles.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { createOrganizationFixture } from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let fixture: Awaited<ReturnType<typeof createOrganizationFixture>>
let operator: Browser
let admin: Browser
let viewer: Browser

before(async () => {
  app = await startComposedConsole()
  fixture = await createOrganizationFixture(app.db)
  organizationId = fixture.organizationId
  const signIn = async (role: Role) =>
    (await app.signInAs(organizationId, role, `${role}@contacts.test`)).browser
  operator = await signIn('operator')
  admin = await signIn('admin')
  viewer = await signIn('viewer')
})
after(() => app.stop())

const make = async (external_id: string, phone_number: string): Promise<string> => {
  const body = { external_id, name: 'Grace Hopper', phone_number, company: 'Navy' }
  return String((await operator.send('POST', '/console/contacts', body)).body['id'])
}

const entries = async (id: string): Promise<unknown[]> => {
  const { body } = await admin.send('GET', `/console/audit?target_id=${id}`)
  return (body['data'] as { action: string }[]).map(({ action }) => action)
}

test('a contact is edited: given members change, the others and the identity stay', async () => {
  const id = await make('edit', '+12025550160')
  await make('other', '+12025550161')
  const path = `/console/contacts/${id}`
  const changed = await operator.send('PATCH', path, { name: 'Ada', company: '', city: 'London' })
  assert.equal(changed.status, 200, JSON.stringify(changed.body))
  const { name, company, city, external_id, phone_number, time_zones, is_blocked } = changed.body
  assert.deepEqual(
    [name, company, city, external_id, phone_number, is_blocked],
    ['Ada', '', 'London', 'edit', '+12025550160', false],
  )
  assert.deepEqual(time_zones, ['America/New_York'])
  const taken = await operator.send('PATCH', path, { phone_number: '+12025550161' })
  assert.deepEqual([taken.status, taken.code], [409, 'contact_identity_conflict'])
  const moved = await operator.send('PATCH', path, { phone_number: '+12025550162' })
  assert.equal(moved.body['phone_number'], '+12025550162')
  for (const bad of [{ phone_number: '202' }, { name: '' }, { external_id: 'x' }, { source: 'a' }])
    assert.equal((await operator.send('PATCH', path, bad)).status, 400, JSON.stringify(bad))
  assert.equal((await viewer.send('PATCH', path, { name: 'No' })).status, 403)
  assert.deepEqual(await entries(id), ['contact.update', 'contact.update', 'contact.create'])
})

test('a contact of a manual dial is edited as well', async () => {
  await fixture.dial('+12025550165')
  const { body } = await operator.send('GET', '/console/contacts?source=manual_dial')
  const [contact] = body['data'] as { id: string }[]
  const changed = await operator.send('PATCH', `/console/contacts/${contact?.id}`, { name: 'Joan' })
  assert.deepEqual([changed.status, changed.body['name']], [200, 'Joan'])
  assert.equal('external_id' in changed.body, false)
})

test('do-not-call is switched on and off, and stops calls', async () => {
  const id = await make('quiet', '+12025550163')
  const set = (is_blocked: boolean, browser = operator) =>
    browser.send('POST', `/console/contacts/${id}/do-not-call`, { is_blocked })
  assert.equal((await set(true)).body['is_blocked'], true)
  assert.equal((await set(true)).status, 200)
  const call = { agent_id: fixture.agentId, phone_number: '+12025550163' }
  const refused = await operator.send('POST', '/console/calls', call)
  assert.ok(refused.status >= 400, JSON.stringify(refused.body))
  assert.equal((await set(false)).body['is_blocked'], false)
  assert.equal((await operator.send('POST', '/console/calls', call)).status, 202)
  assert.equal((await set(true, viewer)).status, 403)
  assert.deepEqual((await entries(id)).slice(0, 3), [
    'do_not_call.remove',
    'do_not_call.add',
    'do_not_call.add',
  ])
})

test('an erasure by an administrator gives a receipt; the do-not-call list and the entry stay', async () => {
  const id = await make('gone', '+12025550164')
  await fixture.placeCall('+12025550166')
  await operator.send('POST', `/console/contacts/${id}/do-not-call`, { is_blocked: true })
  const path = `/console/contacts/${id}/erase`
  assert.equal((await operator.send('POST', path, {})).status, 403)
  const receipt = await admin.send('POST', path, {})
  assert.equal(receipt.status, 200, JSON.stringify(receipt.body))
  const { contact_id, calls, recordings, erased_by } = receipt.body
  assert.deepEqual([contact_id, calls, recordings, erased_by], [id, 0, 0, 'admin@contacts.test'])
  assert.equal((await operator.send('GET', `/console/contacts/${id}`)).status, 404)
  assert.equal((await admin.send('POST', path, {})).status, 404)
  assert.equal((await entries(id))[0], 'contact.erase')
  const again = await make('back', '+12025550164')
  const shown = await operator.send('GET', `/console/contacts/${again}`)
  assert.equal(shown.body['is_blocked'], true)
})

test('a viewer sees neither number nor name of a contact', async () => {
  const id = await make('hidden', '+12025550167')
  const text = JSON.stringify((await viewer.send('GET', `/console/contacts/${id}`)).body)
  for (const word of ['Grace', '+12025550167', 'Navy', '"hidden"'])
    assert.ok(!text.includes(word), text)
})

test('contacts are found by what operators type; viewers would learn what is masked', async () => {
  const id = await make('found-1', '+12025550171')
  const find = (q: string, browser = operator) =>
    browser.send('GET', `/console/contact-search?${new URLSearchParams({ q }).toString()}`)
  const idsOf = (body: Record<string, unknown>) =>
    (body['data'] as { id: string }[]).map((c) => c.id)
  for (const q of ['found-1', 'grace hop found', '(202) 555-0171', ' 0171 ']) {
    const answer = await find(q)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.ok(idsOf(answer.body).includes(id), q)
    assert.equal(answer.body['truncated'], false)
  }
  for (const q of ['', ' ', 'x'.repeat(101)]) assert.equal((await find(q)).status, 400, q)
  const two = await operator.send('GET', '/console/contact-search?q=a&q=b')
  assert.equal(two.status, 400)
  for (const odd of ["'", '\\', ':*', '%', '\u0000', '…', '&|!()<->'])
    assert.ok([200, 400].includes((await find(odd)).status), odd)
  assert.equal((await find('grace', viewer)).status, 403)
})
