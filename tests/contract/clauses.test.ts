import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { startComposedApi, type Tenant } from '../support/composed-api.ts'

/** The contract read literally by an outsider, clause by clause, against the real handlers. */

let api: Awaited<ReturnType<typeof startComposedApi>>
let tenant: Tenant

before(async () => {
  api = await startComposedApi()
  tenant = await api.createTenant('Clauses')
})
after(() => api.stop())

interface Ask {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

interface Problem {
  readonly code: string
  readonly details?: { readonly fields?: readonly object[]; readonly supported_versions?: string[] }
}

/** `GET /path` or `POST /path`; a POST carries a new Idempotency-Key by default. */
const ask = async (line: string, { body = {}, headers = {} }: Ask = {}) => {
  const [method = '', path = ''] = line.split(' ')
  const isPost = method === 'POST'
  const response = await fetch(api.url + path, {
    method,
    headers: {
      authorization: `Bearer ${tenant.secret}`,
      ...(isPost && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      ...headers,
    },
    ...(isPost && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  return {
    status: response.status,
    headers: response.headers,
    json,
    error: json['error'] as Problem,
  }
}

const assertField = async (line: string, path: string, code: string, options: Ask = {}) => {
  const { status, error } = await ask(line, options)
  assert.equal(status, 400, line)
  assert.equal(error.code, 'validation_error', line)
  assert.deepEqual(error.details?.fields, [{ path, code }], line)
}

const person = (members: object = {}) => {
  const serial = (nextPerson += 1)
  return {
    external_id: `person-${serial}`,
    name: 'Ada Lovelace',
    phone_number: `+1202555${String(1000 + serial)}`,
    ...members,
  }
}
let nextPerson = 0

const id = (name: string): string => tenant.ids[name] ?? assert.fail(name)

const membersOf = (resource: object): string => Object.keys(resource).toSorted().join(' ')

const lists = 'calls contacts agents batches automations automation-runs recordings'.split(' ')

test('D1: every list is {data, next_cursor} and nothing else', async () => {
  for (const list of lists) {
    const { status, json } = await ask(`GET /${list}`)
    assert.equal(status, 200, list)
    assert.deepEqual(Object.keys(json), ['data', 'next_cursor'], list)
    assert.ok((json['data'] as unknown[]).length > 0, list)
  }
})

test('D1: limit is 1 to 100, refused outside and never clamped, on every list', async () => {
  for (const list of lists) {
    await assertField(`GET /${list}?limit=0`, 'limit', 'too_small')
    await assertField(`GET /${list}?limit=101`, 'limit', 'too_large')
    await assertField(`GET /${list}?limit=`, 'limit', 'invalid_type')
    await assertField(`GET /${list}?limit=5.0`, 'limit', 'invalid_type')
    assert.equal((await ask(`GET /${list}?limit=100`)).status, 200)
  }
})

test('contract, transcript: limit is 1 to 250', async () => {
  const path = `GET /calls/${id('call_id')}/transcript`
  assert.equal((await ask(`${path}?limit=250`)).status, 200)
  await assertField(`${path}?limit=251`, 'limit', 'too_large')
})

test('D1: an unknown parameter is unknown_field, a repeated one duplicate_item, on every list', async () => {
  for (const list of lists) {
    await assertField(`GET /${list}?page=2`, 'page', 'unknown_field')
    await assertField(`GET /${list}?limit=5&limit=5`, 'limit', 'duplicate_item')
  }
})

test('D1: an empty or reversed window is invalid_range, and any offset is accepted', async () => {
  for (const list of ['calls', 'contacts', 'automation-runs', 'recordings']) {
    const window = (after: string, before: string) =>
      `GET /${list}?created_after=${after}&created_before=${before}`
    const noon = '2026-07-16T12:00:00Z'
    await assertField(window(noon, noon), 'created_before', 'invalid_range')
    await assertField(
      window(noon, '2026-07-16T13:59:59%2B02:00'),
      'created_before',
      'invalid_range',
    )
    assert.equal((await ask(window(noon, '2026-07-16T14:00:01%2B02:00'))).status, 200)
    await assertField(`GET /${list}?created_after=yesterday`, 'created_after', 'invalid_date_time')
    await assertField(`GET /${list}?created_after=2026-07-16`, 'created_after', 'invalid_date_time')
  }
})

test('D1: an offset with an unescaped plus is read as intended', async () => {
  const { status } = await ask('GET /calls?created_after=2026-07-16T12:00:00+02:00')
  assert.equal(status, 200)
})

test('D1: created_after is inclusive and created_before exclusive, so that adjacent windows do not overlap', async () => {
  const { json } = await ask('POST /contacts', { body: person() })
  const at = encodeURIComponent(String(json['created_at']))
  const later = encodeURIComponent(
    new Date(Date.parse(String(json['created_at'])) + 1).toISOString(),
  )
  const found = async (query: string) => {
    const page = await ask(`GET /contacts?external_id=${String(json['external_id'])}&${query}`)
    return (page.json['data'] as unknown[]).length
  }
  assert.equal(await found(`created_after=${at}`), 1)
  assert.equal(await found(`created_before=${at}`), 0)
  assert.equal(await found(`created_after=${at}&created_before=${later}`), 1)
  assert.equal(await found(`created_after=${later}`), 0)
})

test('D1: pages have no gap and no repetition, and limit may change between them', async () => {
  for (let made = 0; made < 7; made += 1)
    await ask('POST /contacts', { body: person({ source: 'paging' }) })
  const whole = await ask('GET /contacts?source=paging')
  const seen: unknown[] = []
  let cursor = ''
  for (const limit of [1, 3, 2, 50]) {
    const next = cursor === '' ? '' : `&cursor=${cursor}`
    const page = await ask(`GET /contacts?source=paging&limit=${limit}${next}`)
    seen.push(...(page.json['data'] as unknown[]))
    cursor = String(page.json['next_cursor'])
  }
  assert.equal(cursor, 'null')
  assert.deepEqual(seen, whole.json['data'])
})

test('D1: an altered cursor, or one with other filters, in another list or organization, is refused', async () => {
  await ask('POST /contacts', { body: person() })
  const { json } = await ask('GET /contacts?limit=1')
  const cursor = String(json['next_cursor'])
  const altered = (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1)
  await assertField(`GET /contacts?cursor=${altered}`, 'cursor', 'invalid_cursor')
  await assertField(`GET /contacts?source=crm&cursor=${cursor}`, 'cursor', 'invalid_cursor')
  await assertField(`GET /calls?cursor=${cursor}`, 'cursor', 'invalid_cursor')
  await assertField('GET /contacts?cursor=', 'cursor', 'too_short')
  await assertField(`GET /contacts?cursor=${'x'.repeat(2049)}`, 'cursor', 'too_long')
  const other = await api.createTenant('Other')
  const { status } = await other.client.get(`/contacts?cursor=${cursor}`)
  assert.equal(status, 400)
})

test('D1: lengths count code points after trimming Unicode white space', async () => {
  const longest = '😀'.repeat(255)
  const made = await ask('POST /contacts', { body: person({ name: `\u2003${longest}\u00a0` }) })
  assert.equal(made.status, 201)
  assert.equal(made.json['name'], longest)
  const body = person({ name: `${longest}x` })
  await assertField('POST /contacts', 'name', 'too_long', { body })
  await assertField('POST /contacts', 'name', 'too_short', { body: person({ name: ' \u3000 ' }) })
})

test('D1: NUL and lone surrogates are invalid_format', async () => {
  for (const name of ['a\u0000b', 'a\ud800'])
    await assertField('POST /contacts', 'name', 'invalid_format', { body: person({ name }) })
})

test('D1: a repeated member is invalid_json, and so are an empty body and one that is not JSON', async () => {
  for (const body of ['{"name":"a","name":"b"}', '', '{', '\ufeff{}']) {
    const { status, error } = await ask('POST /contacts', { body })
    assert.equal(status, 400)
    assert.equal(error.code, 'invalid_json', body)
  }
})

test('D1: unset members are omitted, nullable ones are present, and instants have milliseconds and Z', async () => {
  const { json: call } = await ask(`GET /calls/${id('call_id')}`)
  assert.deepEqual(membersOf(call), 'agent_id contact_id created_at id queued_at status updated_at')
  for (const name of ['created_at', 'queued_at', 'updated_at'])
    assert.match(String(call[name]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const { json: summary } = await ask(`GET /calls/${id('call_id')}/summary`)
  assert.deepEqual(
    membersOf(summary),
    'call_id generated_at object poll_after_seconds reason revision schema_version status summary',
  )
})

test('D7: an active call has processing results of revision 0, with call_not_ended', async () => {
  for (const [kind, content] of [
    ['summary', 'summary'],
    ['transcript', 'turns'],
  ] as const) {
    const { status, json } = await ask(`GET /calls/${id('call_id')}/${kind}`)
    assert.equal(status, 200)
    assert.equal(json['object'], `call_${kind}`)
    assert.equal(json['schema_version'], '2026-07-28')
    assert.equal(json['status'], 'processing')
    assert.equal(json['revision'], 0)
    assert.equal(json['reason'], 'call_not_ended')
    assert.equal(json[content], null)
    assert.equal(json['generated_at'], null)
    assert.ok(Number(json['poll_after_seconds']) >= 1)
  }
})

test('D2: a create returns a Location, which leads to the resource', async () => {
  const { status, headers, json } = await ask('POST /calls', {
    body: { agent_id: id('agent_id'), recipient: person() },
  })
  assert.equal(status, 202)
  const location = headers.get('location') ?? ''
  assert.equal(location, `/calls/${String(json['id'])}`)
  assert.deepEqual((await ask(`GET ${location}`)).json, json)
})

test('D2: HEAD is GET without a body, OPTIONS is 405, a trailing slash is unknown', async () => {
  const head = await ask('HEAD /agents')
  assert.equal(head.status, 200)
  assert.ok(Number(head.headers.get('content-length')) > 0)
  const options = await ask('OPTIONS /agents')
  assert.equal(options.status, 405)
  assert.equal(options.headers.get('allow'), 'GET, HEAD')
  assert.equal((await ask('GET /agents/')).status, 404)
})

test('D3: a call takes an agent and exactly one of contact_id and recipient', async () => {
  const agent_id = id('agent_id')
  const contact_id = id('contact_id')
  await assertField('POST /calls', 'contact_id', 'required', { body: { agent_id } })
  await assertField('POST /calls', 'agent_id', 'required', { body: { contact_id } })
  const both = { agent_id, contact_id, recipient: person() }
  await assertField('POST /calls', 'recipient', 'mutually_exclusive', { body: both })
  const more = { agent_id, contact_id, variables: {} }
  await assertField('POST /calls', 'variables', 'unknown_field', { body: more })
  const bad = { agent_id, recipient: person({ phone_number: '0102555' }) }
  await assertField('POST /calls', 'recipient.phone_number', 'invalid_e164', { body: bad })
})

test('D3: a refused call leaves no contact behind', async () => {
  const recipient = person({ phone_number: '+19005550123' })
  const body = { agent_id: id('agent_id'), recipient }
  const { status, error } = await ask('POST /calls', { body })
  assert.deepEqual([status, error.code], [400, 'unsupported_destination'])
  const { json } = await ask(`GET /contacts?external_id=${recipient.external_id}`)
  assert.deepEqual(json['data'], [])
})

test('D3: a queued call is cancelled at once, and a cancelled one is returned unchanged', async () => {
  const placed = await ask('POST /calls', {
    body: { agent_id: id('agent_id'), recipient: person() },
  })
  const path = `POST /calls/${String(placed.json['id'])}/cancel`
  const first = await ask(path)
  assert.equal(first.status, 200)
  assert.equal(first.json['status'], 'cancelled')
  assert.ok(first.json['cancelled_at'] && first.json['cancel_requested_at'])
  assert.deepEqual((await ask(path)).json, first.json)
})

test('D4: created, updated, and refused where identity and number are two contacts', async () => {
  const [one, two] = [person(), person()]
  const made = await ask('POST /contacts', { body: { ...one, company: 'Engines', city: 'London' } })
  assert.equal(made.status, 201)
  assert.equal(made.json['source'], 'public_api')
  const updated = await ask('POST /contacts', { body: { ...one, company: '' } })
  assert.equal(updated.status, 200)
  assert.equal(updated.json['id'], made.json['id'])
  assert.equal(updated.json['company'], '')
  assert.equal(updated.json['city'], 'London')
  await ask('POST /contacts', { body: two })
  const body = { ...one, phone_number: two.phone_number }
  const refused = await ask('POST /contacts', { body })
  assert.deepEqual([refused.status, refused.error.code], [409, 'contact_identity_conflict'])
})

test('D8: an unknown agent is 404 and names the field', async () => {
  const body = { agent_id: 'nobody', contact_id: id('contact_id') }
  const { status, error } = await ask('POST /calls', { body })
  assert.deepEqual([status, error.code], [404, 'resource_not_found'])
  assert.deepEqual(error.details?.fields, [{ path: 'agent_id', code: 'not_found' }])
})

test('D9: the list is cut after 50 problems and truncated is set', async () => {
  const body = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`x${at}`, at]))
  const { error } = await ask('POST /contacts', { body })
  assert.equal(error.details?.fields?.length, 50)
  assert.equal((error.details as { truncated?: boolean }).truncated, true)
})

test('D9: a body of 1 MiB is read, one byte more is 413', async () => {
  const size = 1024 * 1024
  const fill = (bytes: number) => JSON.stringify({ x: 'y'.repeat(bytes - '{"x":""}'.length) })
  assert.equal((await ask('POST /contacts', { body: fill(size) })).status, 400)
  const { status, error } = await ask('POST /contacts', { body: fill(size + 1) })
  assert.deepEqual([status, error.code], [413, 'request_too_large'])
})

test('D9: the earlier check decides: version, then scope, then key, then body', async () => {
  const wrong = { 'service-version': '2020-01-01', 'idempotency-key': ' ' }
  const version = await ask('POST /calls', { headers: wrong, body: '{' })
  assert.equal(version.error.code, 'unsupported_version')
  assert.deepEqual(version.error.details?.supported_versions, ['2026-07-16'])
  const headers = { 'idempotency-key': 'é', 'content-type': 'text/plain' }
  await assertField('POST /calls', 'idempotency-key', 'invalid_format', { headers, body: '{' })
  const typed = { headers: { 'content-type': 'text/plain' }, body: '{' }
  await assertField('POST /calls', 'content-type', 'invalid_format', typed)
})

test('D9, D14: unknown ids in a path are 404 with rate-limit headers, unknown paths without', async () => {
  const known = await ask('GET /calls/no-uuid')
  assert.equal(known.status, 404)
  assert.ok(known.headers.has('ratelimit-limit'))
  const unknown = await ask('GET /call')
  assert.equal(unknown.status, 404)
  assert.ok(!unknown.headers.has('ratelimit-limit'))
})

test('D10: an equal request is replayed with its Location, an unequal one is a conflict', async () => {
  const headers = { 'idempotency-key': `once ${randomUUID()}` }
  const recipient = person()
  const body = { agent_id: id('agent_id'), recipient }
  const first = await ask('POST /calls', { headers, body })
  const equal = `{ "recipient" : ${JSON.stringify({ ...recipient, source: 'public_api' })},
    "agent_id" : "  ${id('agent_id')}" }`
  const second = await ask('POST /calls', { headers, body: equal })
  assert.equal(second.status, 202)
  assert.deepEqual(second.json, first.json)
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  assert.equal(second.headers.get('location'), first.headers.get('location'))
  assert.notEqual(second.headers.get('x-request-id'), first.headers.get('x-request-id'))
  const third = await ask('POST /calls', { headers, body: { ...body, recipient: person() } })
  assert.deepEqual([third.status, third.error.code], [409, 'idempotency_conflict'])
  const elsewhere = await ask(`POST /calls/${id('call_id')}/cancel`, { headers })
  assert.equal(elsewhere.error.code, 'idempotency_conflict')
})

test('D10: a refusal frees the key', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const refused = { agent_id: 'nobody', contact_id: id('contact_id') }
  assert.equal((await ask('POST /calls', { headers, body: refused })).status, 404)
  const body = { ...refused, agent_id: id('agent_id') }
  assert.equal((await ask('POST /calls', { headers, body })).status, 202)
})

test('D11: the headers name the bucket, and a replay counts', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const body = { agent_id: id('agent_id'), contact_id: id('contact_id') }
  const [first, second] = [
    await ask('POST /calls', { headers, body }),
    await ask('POST /calls', { headers, body }),
  ]
  assert.match(first.headers.get('ratelimit-policy') ?? '', /^"execution";q=\d+;w=60$/)
  const left = (answer: typeof first) => Number(answer.headers.get('ratelimit-remaining'))
  assert.equal(left(second), left(first) - 1)
  const policies = {
    [`POST /calls/${id('call_id')}/cancel`]: 'write',
    'GET /recordings': 'recording',
  }
  for (const [line, bucket] of Object.entries(policies)) {
    const { headers: told } = await ask(line)
    assert.ok(told.get('ratelimit-policy')?.startsWith(`"${bucket}"`), line)
  }
})

test('D12, D14: a bearer key gets 403 under /api-keys, and 405 with an unknown method', async () => {
  for (const line of [
    'GET /api-keys',
    'POST /api-keys',
    'PATCH /api-keys/x',
    'GET /api-keys/x/y',
  ]) {
    const { status, error } = await ask(line)
    assert.deepEqual([status, error.code], [403, 'insufficient_scope'], line)
  }
  assert.equal((await ask('DELETE /api-keys/x')).status, 405)
})

test('contract, recordings: each row gets a new URL on request, with its expiry', async () => {
  const plain = await ask('GET /recordings')
  const [row] = plain.json['data'] as Record<string, unknown>[]
  assert.deepEqual(
    membersOf(row ?? {}),
    'call_id contact_id duration_seconds id media_type object recorded_at',
  )
  const startedMs = Date.now()
  const signed = await ask('GET /recordings?include=download_url&expires_in=60')
  const [link] = signed.json['data'] as Record<string, unknown>[]
  const seconds = (Date.parse(String(link?.['download_url_expires_at'])) - startedMs) / 1000
  assert.ok(seconds > 58 && seconds < 75, `${seconds} s`)
  await assertField('GET /recordings?expires_in=60', 'expires_in', 'requires_include')
  await assertField(
    `GET /recordings/${id('recording_id')}?expires_in=59`,
    'expires_in',
    'too_small',
  )
  const one = await ask(`GET /recordings/${id('recording_id')}`)
  assert.ok(one.json['download_url'] && one.json['download_url_expires_at'])
})

test('D14: a Service-Version that is empty or anything else is unsupported_version', async () => {
  for (const version of ['', '2026-07-17', '2026-07-16, 2026-07-16', 'latest']) {
    const { error } = await ask('GET /agents', { headers: { 'service-version': version } })
    assert.equal(error.code, 'unsupported_version', version)
  }
  const { headers } = await ask('GET /agents', { headers: { 'service-version': '2026-07-16' } })
  assert.equal(headers.get('service-version'), '2026-07-16')
})

test('D14: bearer in lower case, two spaces, or anything after the key is authentication_required', async () => {
  const authorizations = {
    [`bearer ${'x'}`]: 'authentication_required',
    [`Bearer  ${tenant.secret}`]: 'authentication_required',
    [`Bearer ${tenant.secret} x`]: 'authentication_required',
    [`Bearer ${tenant.secret.slice(0, -1)}`]: 'invalid_api_key',
    'Bearer sk_live_something': 'invalid_api_key',
  }
  for (const [authorization, code] of Object.entries(authorizations)) {
    const { status, error, headers } = await ask('GET /agents', { headers: { authorization } })
    assert.deepEqual([status, error.code], [401, code], code)
    assert.equal(headers.get('www-authenticate'), 'Bearer')
  }
})

test('D14: an omitted input equals an empty one, and any member is unknown_field (D6)', async () => {
  const { json } = await ask('POST /contacts', { body: person() })
  const run = { automation_id: id('automation_id'), contact_id: String(json['id']) }
  const headers = { 'idempotency-key': randomUUID() }
  const first = await ask('POST /automation-runs', { headers, body: run })
  assert.equal(first.status, 202)
  const second = await ask('POST /automation-runs', { headers, body: { ...run, input: {} } })
  assert.deepEqual(second.json, first.json)
  const again = await ask('POST /automation-runs', { body: run })
  assert.deepEqual([again.status, again.error.code], [409, 'duplicate_active_run'])
  assert.deepEqual(again.error.details, { existing_run_id: first.json['id'] })
  const named = { body: { ...run, input: { tone: 'warm' } } }
  await assertField('POST /automation-runs', 'input.tone', 'unknown_field', named)
})
