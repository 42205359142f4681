import {
  aCall,
  get,
  invalid,
  ok,
  post,
  refused,
  testResponses,
  type Request,
} from '../../tests/support/response-table.ts'

const version = (value: string | readonly string[]) => get(aCall, { 'service-version': value })
const keyed = (value: string | readonly string[]) =>
  post('/calls', '{"agent_id":"a","contact_id":"c"}', { 'idempotency-key': value })
const typed = (value: string | readonly string[]) =>
  post(`${aCall}/cancel`, '{}', { 'content-type': value })
const without = (request: Request, header: string): Request => {
  const { [header]: _left, ...headers } = request.headers
  return { ...request, headers }
}

const unsupported = refused('unsupported_version')
const badKey = invalid(['idempotency-key', 'invalid_format'])
const badType = invalid(['content-type', 'invalid_format'])
const aContact = '{"external_id":"e","name":"n","phone_number":"+12025550100"}'

testResponses([
  ['the supported version', version('2026-07-16'), ok(200)],
  ['another version', version('2026-07-17'), unsupported],
  ['an empty version', version(''), unsupported],
  ['a malformed version', version('2026-7-16'), unsupported],
  ['a repeated version', version(['2026-07-16', '2026-07-16']), unsupported],

  ['an Idempotency-Key', keyed('a key'), ok(202)],
  ['an Idempotency-Key of 255', keyed('a b'.padEnd(255, 'x')), ok(202)],
  ['an Idempotency-Key of 256', keyed('x'.repeat(256)), badKey],
  ['an empty Idempotency-Key', keyed(''), badKey],
  ['an Idempotency-Key beyond ASCII', keyed('é'), badKey],
  ['an Idempotency-Key with a tab', keyed('a\tb'), badKey],
  ['two Idempotency-Keys', keyed(['a', 'a']), badKey],
  [
    'a required Idempotency-Key left out',
    without(keyed('a'), 'idempotency-key'),
    refused('idempotency_key_required'),
  ],
  [
    'an optional Idempotency-Key left out',
    without(post(`${aCall}/cancel`, '{}'), 'idempotency-key'),
    ok(200),
  ],
  [
    'an Idempotency-Key where none is read',
    post('/contacts', aContact, { 'idempotency-key': '' }),
    ok(201, { location: '/contacts/019c6b2e-7a40-7c31-9d0f-2f6a51b7c001' }),
  ],

  ['JSON in UTF-8', typed('Application/JSON ; charset="UTF-8"'), ok(200)],
  ['no Content-Type', without(typed(''), 'content-type'), badType],
  ['plain text', typed('text/plain'), badType],
  ['JSON by a longer name', typed('application/jsonp'), badType],
  ['two Content-Types', typed(['application/json', 'text/plain']), badType],
  ['JSON in UTF-16', typed('application/json; charset=utf-16'), badType],
  [
    'a compressed body',
    post(`${aCall}/cancel`, '{}', { 'content-encoding': 'gzip' }),
    invalid(['content-encoding', 'invalid_format']),
  ],

  ['a missing Host', get(aCall, { host: [] }), invalid(['host', 'required'])],
  ['two Hosts', get(aCall, { host: ['x', 'y'] }), invalid(['host', 'invalid_format'])],
])
