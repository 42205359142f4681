import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/database/database.ts'
import { createApiKey } from '../../src/domains/api-keys/create-api-key.ts'
import { purgeRequests } from '../../src/domains/requests/purge-requests.ts'
import { eraseContact } from '../../src/domains/retention/erase-contact.ts'
import { setOrganization } from '../../src/domains/organizations/set-organization.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { contactBody, createOrganizationFixture } from '../support/organization-fixture.ts'
import { until } from '../support/until.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>

before(async () => {
  app = await startComposedConsole()
})
after(() => app.stop())

interface Shown {
  readonly id: string
  readonly method: string
  readonly operation: string | null
  readonly path: string
  readonly status: number
  readonly idempotency: string | null
  readonly error_code: string | null
  readonly error_fields: { path: string; code: string }[] | null
  readonly target: { type: string; id: string } | null
  readonly made: boolean
  readonly curl: string
  readonly request_body: unknown
}

let tenants = 0

/** An organization with a key, whose requests are kept, and an owner who looks at them. */
const createTenant = async () => {
  tenants += 1
  const fixture = await createOrganizationFixture(app.db)
  const { organizationId } = fixture
  const key = await createApiKey(app.db, { organizationId, name: 'Shop', scopes: 'all' })
  const { browser } = await app.signInAs(organizationId, 'owner', `o${tenants}@requests.test`)
  const ask = async (method: string, path: string, body?: string | object, claim?: string) => {
    const response = await fetch(app.apiUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${key.secret}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(claim !== undefined && { 'idempotency-key': claim }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { ...fixture, key, browser, ask }
}

const list = async (browser: Browser, query = ''): Promise<Shown[]> => {
  const { body, status } = await browser.send('GET', `/console/api-requests${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body['data'] as Shown[]
}

/** The kept requests, once there are as many: they are written in the background. */
const kept = (browser: Browser, count: number, query = ''): Promise<Shown[]> =>
  until(`${count} kept requests`, async () => {
    const shown = await list(browser, query)
    return shown.length >= count ? shown : undefined
  })

const person = { name: 'Grace Brewster', phone_number: '+12025550177', email: 'grace@navy.test' }

test('requests are kept with what they came to: made, replayed, refused, unknown', async () => {
  const { ask, browser, agentId, organizationId } = await createTenant()
  const body = { agent_id: agentId, recipient: contactBody({ ...person, external_id: 'crm-1' }) }
  const call = await ask('POST', '/calls', body, 'one')
  assert.equal(call.status, 202, JSON.stringify(call.body))
  await ask('POST', '/calls', body, 'one')
  await ask('POST', '/calls', { ...body, agent_id: organizationId }, 'one')
  await ask('POST', '/calls', { agent_id: 7, 'Grace Brewster': 1 }, 'two')
  await ask('POST', '/calls', '{"agent_id": "Grace', 'three')
  await ask('GET', `/calls/${String(call.body['id'])}`)
  await ask('GET', '/calls/%2B12025550177?external_id=Grace')
  await ask('GET', '/contact/Grace/+12025550177')
  await ask('DELETE', '/calls')

  const shown = (await kept(browser, 9)).toReversed()
  assert.deepEqual(
    shown.map(({ method, path, status, idempotency, error_code: code }) =>
      [method, path, status, idempotency ?? '-', code ?? '-'].join(' '),
    ),
    [
      'POST /calls 202 new -',
      'POST /calls 202 replayed -',
      'POST /calls 409 refused idempotency_conflict',
      'POST /calls 400 refused validation_error',
      'POST /calls 400 refused invalid_json',
      `GET /calls/${String(call.body['id'])} 200 - -`,
      'GET /calls/•••?external_id=••• 404 - resource_not_found',
      'GET /contact/•••/••• 404 - resource_not_found',
      'DELETE /calls 405 - method_not_allowed',
    ],
  )
  const [made, replayed, , invalid] = shown
  assert.deepEqual([made?.made, replayed?.made], [true, false])
  assert.deepEqual(made?.target, { type: 'call', id: call.body['id'] })

  const detail = await browser.send('GET', `/console/api-requests/${String(invalid?.id)}`)
  assert.deepEqual(
    (detail.body['error_fields'] as { path: string }[]).map(({ path }) => path).toSorted(),
    ['agent_id', 'contact_id', '•••'],
  )
  const whole = await Promise.all(
    shown.map(({ id }) => browser.send('GET', `/console/api-requests/${id}`)),
  )
  const everything = JSON.stringify([shown, whole.map((each) => each.body)])
  assert.doesNotMatch(everything, /Grace|Brewster|navy|5550177|crm-1|od_live|od_test/)
  const content = await app.db.rows(sql('test.kept', 'select * from api_requests'), [])
  assert.doesNotMatch(JSON.stringify(content), /Grace|Brewster|navy|5550177|crm-1/)

  const calls = await browser.send('GET', `/console/calls/${String(call.body['id'])}`)
  assert.equal((calls.body['made_by'] as Shown).id, made?.id)
})

test('the list is filtered by class, operation, key, code, target and time', async () => {
  const { ask, browser, key, agentId } = await createTenant()
  await ask('GET', '/agents')
  await ask('GET', '/calls?limit=0')
  const call = await ask('POST', '/calls', { agent_id: agentId, recipient: contactBody() }, 'k')
  await kept(browser, 3)
  const count = async (query: string) => (await list(browser, query)).length
  assert.equal(await count('?status=2xx'), 2)
  assert.equal(await count('?status=4xx'), 1)
  assert.equal(await count('?status=refused'), 1)
  assert.equal(await count('?status=5xx'), 0)
  assert.equal(await count('?operation=listAgents'), 1)
  assert.equal(await count(`?api_key_id=${key.id}`), 3)
  assert.equal(await count('?api_key_id=nobody'), 0)
  assert.equal(await count('?error_code=validation_error&status=4xx'), 1)
  assert.equal(await count(`?target_id=${String(call.body['id'])}`), 1)
  assert.equal(await count('?created_before=2020-01-01T00:00:00Z'), 0)
  const first = await browser.send('GET', '/console/api-requests?limit=2')
  const cursor = String(first.body['next_cursor'])
  assert.equal((await list(browser, `?limit=2&cursor=${cursor}`)).length, 1)
  assert.deepEqual(first.body['keys'], [{ id: key.id, name: 'Shop' }])
})

test('refusals are grouped with their count and what was wrong first', async () => {
  const { ask, browser } = await createTenant()
  for (let each = 0; each < 3; each += 1)
    await ask('POST', '/calls', { agent_id: 'no', recipient: contactBody() }, `g${each}`)
  await ask('POST', '/calls', {})
  await ask('GET', '/nothing')
  await kept(browser, 5)
  const { body } = await browser.send('GET', '/console/api-requests/refusals?days=1')
  const groups = body['data'] as Record<string, unknown>[]
  assert.deepEqual(
    groups.map(({ operation, error_code: code, count }) => [operation, code, count]).slice(0, 1),
    [['placeCall', 'resource_not_found', 3]],
  )
  assert.deepEqual(groups[0]?.['first_field'], { path: 'agent_id', code: 'not_found' })
  assert.equal(groups.length, 3)
  const wrong = await browser.send('GET', '/console/api-requests/refusals?days=400')
  assert.equal(wrong.status, 400)
})

test('the command repeats the request without its key, and a shell reads nothing of it', async () => {
  const { ask, browser, agentId } = await createTenant()
  await ask('POST', '/calls', { agent_id: agentId, note: "'; rm -rf / #$(id)" }, 'c')
  const [shown] = await kept(browser, 1)
  const { body } = await browser.send('GET', `/console/api-requests/${String(shown?.id)}`)
  const curl = String(body['curl'])
  assert.match(
    curl,
    /^curl -X POST 'http:\/\/api\.test\/calls' \\\n {2}-H "Authorization: Bearer \$OUTDIAL_API_KEY"/,
  )
  assert.match(curl, /-H 'Idempotency-Key: [0-9a-f-]{36}'/)
  assert.ok(curl.includes(`-d '{"agent_id":"${agentId}","note":"•••"}'`), curl)
})

test('a viewer sees no body, another organization nothing, and a session’s request is not kept', async () => {
  const { ask, browser, organizationId, key } = await createTenant()
  await ask('GET', '/agents')
  await ask('POST', '/calls', { agent_id: 'x' }, 'v')
  const shown = await kept(browser, 2)
  const viewer = await app.signInAs(organizationId, 'viewer', 'viewer@requests.test')
  const seen = await viewer.browser.send('GET', `/console/api-requests/${String(shown[0]?.id)}`)
  assert.deepEqual([seen.status, seen.body['request_body'], seen.body['curl']], [200, null, '•••'])
  const stranger = await createTenant()
  assert.deepEqual(await list(stranger.browser), [])
  const foreign = await stranger.browser.send(
    'GET',
    `/console/api-requests/${String(shown[0]?.id)}`,
  )
  assert.equal(foreign.status, 404)
  const there = app.browse('198.51.100.1', app.apiUrl)
  there.cookie = browser.cookie
  await there.send('PATCH', `/api-keys/${key.id}`, { name: 'New' })
  await ask('GET', '/agents')
  assert.deepEqual(
    (await kept(browser, 3)).map(({ method }) => method),
    ['GET', 'POST', 'GET'],
  )
})

test('requests go with their time, with what is beyond the number kept, and with an erased person', async () => {
  const { ask, browser, agentId, organizationId } = await createTenant()
  const body = { agent_id: agentId, recipient: contactBody({ ...person, external_id: 'crm-2' }) }
  const call = await ask('POST', '/calls', body, 'one')
  for (let each = 0; each < 4; each += 1) await ask('GET', '/agents')
  await kept(browser, 5)
  await app.db.transaction((tx) =>
    eraseContact(tx, organizationId, String(call.body['contact_id'])),
  )
  const [made] = await list(browser, '?operation=placeCall')
  const detail = await browser.send('GET', `/console/api-requests/${String(made?.id)}`)
  assert.deepEqual([detail.body['request_body'], detail.body['response_body']], [null, null])

  const age = (days: number, method: string) =>
    app.db.run(
      sql(
        'test.age',
        `update api_requests set at = now() - make_interval(days => $2)
          where organization_id = $1 and method = $3`,
      ),
      [organizationId, days, method],
    )
  await age(6, 'POST')
  await purgeRequests(app.db, 7, 100)
  assert.equal((await list(browser)).length, 5)
  await app.db.transaction((tx) => setOrganization(tx, organizationId, { retentionDays: 5 }))
  await purgeRequests(app.db, 7, 100)
  assert.equal((await list(browser)).length, 4)
  await age(8, 'GET')
  await app.db.transaction((tx) => setOrganization(tx, organizationId, { retentionDays: 0 }))
  await purgeRequests(app.db, 9, 100)
  assert.equal((await list(browser)).length, 4)
  await purgeRequests(app.db, 9, 100, 2)
  assert.equal((await list(browser)).length, 2)
  await purgeRequests(app.db, 7, 100)
  assert.equal((await list(browser)).length, 0)
})
