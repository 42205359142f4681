import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  consoleOperations,
  type ConsoleOperationName,
} from '../../src/contract/console/operations.ts'
import { hasBody } from '../../src/contract/define-operation.ts'
import { roles, type Role } from '../../src/contract/roles.ts'
import { addMember } from '../../src/identity/member-store.ts'
import { newId } from '../../src/runtime/ids.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { createConsoleTenant, privateWords } from '../support/console-tenant.ts'
import { openContentReader } from '../support/database-content.ts'
import { minimalAgentFile } from '../support/organization-fixture.ts'
import { sampleInput } from '../support/sample-input.ts'

// Every operation of the table × every role × another tenant × no session × a foreign page × no Origin. All of it derives
// from the table: a new operation needs a line here only where its body has a rule over several members, and a new kind of
// resource one in the tenant of tests/support/console-tenant.ts.

type Tenant = Awaited<ReturnType<typeof createConsoleTenant>>

let app: Awaited<ReturnType<typeof startComposedConsole>>
let own: Tenant
let other: Tenant
let content: Awaited<ReturnType<typeof openContentReader>>
const browsers = new Map<Role, Browser>()

const names = Object.keys(consoleOperations) as ConsoleOperationName[]
const guarded = names.filter((name) => !consoleOperations[name].open)
const open = names.filter((name) => consoleOperations[name].open)
const anyRoleOf = (name: ConsoleOperationName): readonly Role[] => consoleOperations[name].anyRole
const isChange = (name: ConsoleOperationName): boolean => consoleOperations[name].method !== 'GET'

const signIn = async (role: Role): Promise<Browser> =>
  (await app.signInAs(own.organizationId, role, `${role}-${newId()}@own.test`)).browser

before(async () => {
  app = await startComposedConsole()
  own = await createConsoleTenant(app)
  other = await createConsoleTenant(app)
  for (const role of roles) browsers.set(role, await signIn(role))
  content = await openContentReader(app.db)
})
after(() => app.stop())

/** Bodies of the operations whose schema does not show all their rules. */
const bodies: Partial<Record<ConsoleOperationName, object>> = {
  publishAgent: minimalAgentFile,
  saveAgentDraft: { file: minimalAgentFile, revision: 0, version: 1 },
  talkToAgent: { version: 'published' },
}

/** Queries that name versions by something else than `version`. */
const queries: Partial<Record<ConsoleOperationName, object>> = {
  compareAgentVersions: { before: '1', after: '1' },
}

/** A request of the operation with the ids of a tenant, in its path, its query and its body. */
const requestOf = (name: ConsoleOperationName, { ids }: Tenant) => {
  const { method, path, query, body, params } = consoleOperations[name]
  const known = (member: string): string | undefined => ids[member.replace(/_ids$/, '_id')]
  const named = sampleInput(params, known) as Record<string, unknown>
  const filled = path.replace(/\{(\w+)\}/g, (_, id: string) => {
    if (id.endsWith('_id') && ids[id] === undefined)
      assert.fail(`The tenant of these tests has no ${id}.`)
    return String(named[id])
  })
  const asked = Object.entries(queries[name] ?? (sampleInput(query, known) as object))
  const search = new URLSearchParams(
    Object.fromEntries(asked.map(([member, value]) => [member, String(value)])),
  )
  return {
    method,
    target: asked.length === 0 ? filled : `${filled}?${search.toString()}`,
    body: hasBody(method) ? (bodies[name] ?? (sampleInput(body, known) as object)) : undefined,
  }
}

const ask = (
  browser: Browser,
  name: ConsoleOperationName,
  tenant: Tenant,
  headers: object = {},
) => {
  const { method, target, body } = requestOf(name, tenant)
  return browser.send(method, target, body, headers)
}

/** What names a tenant's own things; the version of one names nothing alone. */
const idsOf = ({ ids }: Tenant): readonly string[] =>
  Object.entries(ids).flatMap(([name, id]) => (name.endsWith('_id') ? [id] : []))

/** What an undefined header leaves out, `fetch` does not send: an Origin is sent by a page only. */
const askWithoutOrigin = async (browser: Browser, name: ConsoleOperationName, tenant: Tenant) => {
  const { method, target, body } = requestOf(name, tenant)
  const response = await fetch(app.url + target, {
    method,
    headers: {
      'x-forwarded-for': '198.51.100.1',
      ...(browser.cookie !== undefined && { cookie: browser.cookie }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  return response.status
}

const foreignPages = [
  'http://evil.test',
  'null',
  'http://dashboard.test.evil.test',
  'https://dashboard.test',
  'http://dashboard.test:81',
]

/** Each visitor comes from an address of its own: what one address may try is bounded. */
const visit = ((count) => () => {
  count += 1
  return app.browse(`203.0.${Math.floor(count / 250)}.${(count % 250) + 1}`)
})(0)

for (const name of guarded) {
  const { method, path } = consoleOperations[name]

  test(`${method} ${path}: refuses visitors, other roles and foreign pages, and changes nothing`, async () => {
    const before = await content()
    assert.equal((await ask(visit(), name, own)).status, 401)
    const invented = visit()
    invented.cookie = `outdial_session=${'a'.repeat(32)}.${'b'.repeat(44)}`
    assert.equal((await ask(invented, name, own)).status, 401)
    const keyed = await ask(visit(), name, own, { authorization: 'Bearer od_live_x' })
    assert.equal(keyed.status, 401)
    for (const [role, browser] of browsers) {
      if (!anyRoleOf(name).includes(role)) {
        const refused = await ask(browser, name, own)
        assert.deepEqual([refused.status, refused.code], [403, 'insufficient_scope'], role)
      }
      if (!isChange(name)) continue
      for (const origin of foreignPages)
        assert.equal((await ask(browser, name, own, { origin })).status, 403, `${role} ${origin}`)
      assert.equal(await askWithoutOrigin(browser, name, own), 403, `${role} without an Origin`)
    }
    if (isChange(name)) assert.equal(await askWithoutOrigin(visit(), name, own), 403)
    assert.deepEqual(await content(), before)
  })

  test(`${method} ${path}: reaches nothing of another organization`, async () => {
    const before = await content(other.organizationId)
    const place = namesTenant(name)
    for (const role of anyRoleOf(name)) {
      const browser = browsers.get(role) ?? assert.fail(role)
      const answer = await ask(browser, name, other)
      const text = JSON.stringify(answer.body)
      if (consoleOperations[name].ofInstallation) assert.equal(answer.status, 403, text)
      else if (place === 'path') assert.equal(answer.status, 404, `${role}: ${text}`)
      // A member of a body may be refused as such; a filter by a foreign id finds nothing.
      else if (place === 'body') assert.ok([400, 404, 409].includes(answer.status), text)
      else if (!isChange(name)) assert.ok([200, 404].includes(answer.status), text)
      else assert.ok(answer.status < 500, `${role}: ${text}`)
      for (const id of idsOf(other)) assert.ok(!text.includes(id), `${role}: ${id}`)
      // A foreign page reads no answer: nothing allows it to.
      assert.equal(answer.headers.get('access-control-allow-origin'), null)
      const isSignedIn = (await browser.send('GET', '/console/session')).status === 200
      if (!isSignedIn) browsers.set(role, await signIn(role))
    }
    assert.deepEqual(await content(other.organizationId), before)
  })
}

test('a window that shows the organization before reaches none, whatever it asks for', async () => {
  const { browser, accountId } = await app.signInAs(
    own.organizationId,
    'owner',
    `${newId()}@both.test`,
  )
  await addMember(app.db, other.organizationId, accountId, 'owner')
  const switched = await browser.send('POST', '/console/session/organization', {
    organization_id: other.organizationId,
  })
  assert.equal(switched.status, 200, JSON.stringify(switched.body))
  const before = await content()
  for (const name of guarded)
    for (const tenant of isChange(name) ? [own, other] : [own])
      for (const shown of [own.organizationId, '', 'x', newId()]) {
        const { status, code } = await ask(browser, name, tenant, { 'outdial-organization': shown })
        assert.deepEqual([status, code], [409, 'organization_changed'], `${name} by ${shown}`)
      }
  assert.deepEqual(await content(), before)
  const shown = { 'outdial-organization': other.organizationId }
  const session = await browser.send('GET', '/console/session', undefined, shown)
  assert.equal(session.body['organization_id'], other.organizationId)
})

/** Where a request of the operation names what belongs to a tenant. */
const namesTenant = (name: ConsoleOperationName): 'path' | 'body' | undefined => {
  const { path } = consoleOperations[name]
  if (/\{\w+_id\}/.test(path)) return 'path'
  const text = JSON.stringify(requestOf(name, other).body ?? {})
  return idsOf(other).some((id) => text.includes(id)) ? 'body' : undefined
}

for (const name of open) {
  const { method, path } = consoleOperations[name]
  test(`${method} ${path}: is for visitors from the dashboard's own pages only`, async () => {
    const before = await content()
    for (const origin of foreignPages)
      assert.equal((await ask(visit(), name, own, { origin })).status, 403, origin)
    assert.equal(await askWithoutOrigin(visit(), name, own), 403)
    assert.deepEqual(await content(), before)
  })
}

test('a foreign page may not even ask whether it may', async () => {
  const preflight = await fetch(`${app.url}/console/contacts`, {
    method: 'OPTIONS',
    headers: {
      origin: 'http://evil.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  })
  assert.equal(preflight.ok, false)
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
})

test('a viewer reads no number, name or word in any answer, and an operator does', async () => {
  const memberOf = async (role: Role): Promise<Browser> =>
    (await app.signInAs(own.organizationId, role, `${role}-${newId()}@own.test`)).browser
  const [viewer, operator] = [await memberOf('viewer'), await memberOf('operator')]
  const words = Object.entries(privateWords)
  const shown = new Set<string>()
  for (const name of guarded.filter((each) => !isChange(each))) {
    const readable = await ask(operator, name, own)
    const isAllowed =
      anyRoleOf(name).includes('operator') && !consoleOperations[name].ofInstallation
    const expected = isAllowed ? 200 : 403
    assert.equal(readable.status, expected, `${name}: ${JSON.stringify(readable.body)}`)
    for (const [kind, word] of words)
      if (JSON.stringify(readable.body).includes(word)) shown.add(kind)
    if (!anyRoleOf(name).includes('viewer')) continue
    const seen = await ask(viewer, name, own)
    assert.equal(seen.status, readable.status, name)
    const text = JSON.stringify(seen.body)
    for (const [kind, word] of words) assert.ok(!text.includes(word), `${name} shows ${kind}`)
  }
  // The words are there to be hidden.
  for (const kind of ['phone', 'name', 'email', 'externalId', 'company', 'city', 'turn', 'summary'])
    assert.ok(shown.has(kind), kind)
})

test('every operation that is for no role is for visitors, and each role has fewer than the one above', () => {
  for (const name of names)
    assert.equal(anyRoleOf(name).length === 0, consoleOperations[name].open, name)
  const counts = roles.map((role) => names.filter((each) => anyRoleOf(each).includes(role)).length)
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => b - a),
  )
  assert.ok((counts[1] ?? 0) > (counts[2] ?? 0) && (counts[2] ?? 0) > (counts[3] ?? 0))
})
