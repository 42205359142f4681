import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Role } from '../../src/contract/roles.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { createConsoleTenant, privateWords } from '../support/console-tenant.ts'

type Tenant = Awaited<ReturnType<typeof createConsoleTenant>>

let app: Awaited<ReturnType<typeof startComposedConsole>>
let own: Tenant
let other: Tenant
const browsers = new Map<Role, Browser>()

before(async () => {
  app = await startComposedConsole()
  own = await createConsoleTenant(app)
  other = await createConsoleTenant(app)
  for (const role of ['admin', 'operator', 'viewer'] as const)
    browsers.set(
      role,
      (await app.signInAs(own.organizationId, role, `${role}@search.test`)).browser,
    )
})
after(() => app.stop())

interface Found {
  readonly kind: string
  readonly id: string
  readonly name?: string
  readonly contact_name?: string
  readonly phone_number?: string
}

const search = async (q: string, role: Role = 'admin'): Promise<Found[]> => {
  const browser = browsers.get(role) ?? assert.fail(role)
  const answer = await browser.send(
    'GET',
    `/console/search?${new URLSearchParams({ q }).toString()}`,
  )
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body['data'] as Found[]
}

const idOf = (tenant: Tenant, name: string): string => tenant.ids[name] ?? assert.fail(name)

const kinds: Readonly<Record<string, string>> = {
  call_id: 'call',
  batch_id: 'batch',
  run_id: 'run',
  contact_id: 'contact',
  agent_id: 'agent',
  automation_id: 'automation',
  recording_id: 'recording',
  api_key_id: 'key',
}

test('every kind of thing is found by its id, in either case, and by the beginning of it', async () => {
  for (const [name, kind] of Object.entries(kinds)) {
    const id = idOf(own, name)
    const texts = [id, id.toUpperCase(), id.replaceAll('-', ''), ` ${id} `, id.slice(0, 30)]
    for (const text of texts) {
      const found = await search(text)
      assert.ok(
        found.some((each) => each.kind === kind && each.id === id),
        `${kind} by ${text}: ${JSON.stringify(found)}`,
      )
    }
    // Nothing of another organization.
    assert.deepEqual(await search(idOf(other, name)), [])
  }
})

test('people are found by operators, keys by administrators, names of the rest by all', async () => {
  const kindsFor = async (q: string, role: Role) =>
    [...new Set((await search(q, role)).map(({ kind }) => kind))].toSorted()
  for (const q of [privateWords.name, privateWords.phone, '0177', privateWords.externalId]) {
    assert.deepEqual(await kindsFor(q, 'operator'), ['contact'], q)
    assert.deepEqual(await kindsFor(q, 'viewer'), [], q)
  }
  assert.deepEqual(await kindsFor('A key', 'admin'), ['key'])
  assert.deepEqual(await kindsFor('A key', 'operator'), [])
  assert.deepEqual(await kindsFor(idOf(own, 'api_key_id'), 'operator'), [])
  for (const role of ['admin', 'operator', 'viewer'] as const) {
    assert.deepEqual(await kindsFor('reminders', role), ['batch'])
    assert.deepEqual(await kindsFor('FOLLOW-UP', role), ['automation'])
  }
})

test('a viewer who knows an id sees the person masked', async () => {
  for (const name of ['call_id', 'contact_id', 'run_id', 'recording_id']) {
    const id = idOf(own, name)
    const [open] = (await search(id, 'operator')).filter((each) => each.id === id)
    assert.ok(JSON.stringify(open).includes(privateWords.name), JSON.stringify(open))
    const [masked] = (await search(id, 'viewer')).filter((each) => each.id === id)
    assert.ok(masked)
    for (const word of Object.values(privateWords))
      assert.ok(!JSON.stringify(masked).includes(word), JSON.stringify(masked))
  }
})

test('odd questions find nothing, and are no fault', async () => {
  const odd = ["'", '%', '_', '\\', '-'.repeat(36), 'f'.repeat(33), '…', '0'.repeat(6), 'null', '*']
  for (const q of odd) assert.ok(Array.isArray(await search(q, 'operator')), q)
  const viewer = browsers.get('viewer') ?? assert.fail()
  for (const query of ['', '?q=', '?q=a&q=b', `?q=${'x'.repeat(101)}`, '?q=a&limit=2'])
    assert.equal((await viewer.send('GET', `/console/search${query}`)).status, 400, query)
})
