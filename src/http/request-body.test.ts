import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  aCall,
  invalid,
  json,
  ok,
  post,
  refused,
  testResponses,
} from '../../tests/support/response-table.ts'
import { startApiFixture } from '../../tests/support/api-fixture.ts'

const validCall = '{"agent_id":"a","contact_id":"c"}'
const place = (body: string | Buffer) => post('/calls', body)
const cancel = (body: string | Buffer) => post(`${aCall}/cancel`, body)
const contact = (members: object) =>
  post(
    '/contacts',
    JSON.stringify({ external_id: 'e', name: 'n', phone_number: '+12025550100', ...members }),
  )
const padded = (bytes: number): string => validCall.padEnd(bytes, ' ')
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const recipient = '"recipient":{"external_id":"e","name":"n","phone_number":"+12025550100"'

const invalidJson = refused('invalid_json')

testResponses([
  ['a body of 1 MiB', place(padded(1_048_576)), ok(202)],
  [
    'a body of 1 MiB and a byte',
    place(padded(1_048_577)),
    refused('request_too_large', { connection: 'close' }),
  ],

  ['an empty body', cancel(''), invalidJson],
  ['half a body of JSON', cancel('{'), invalidJson],
  ['a byte order mark', cancel('\ufeff{}'), invalidJson],
  ['bytes that are not UTF-8', cancel(Buffer.from([0x22, 0xff, 0x22])), invalidJson],
  ['a repeated member', place('{"agent_id":"a","agent_\\u0069d":"b"}'), invalidJson],
  ['a repeated __proto__', place('{"__proto__":1,"__proto__":2}'), invalidJson],
  ['a repeated member further in', place('{"recipient":[{"a":1,"a":1}]}'), invalidJson],
  ['nesting of 65', cancel(nested(65)), invalidJson],
  ['nesting of 100,000', cancel(nested(100_000)), invalidJson],
  ['nesting of 64', cancel(nested(64)), invalid(['', 'invalid_type'])],
  ['braces in strings', place('{"agent_id":"a:{\\"[","contact_id":"\\\\"}'), ok(202)],

  ['null', cancel('null'), invalid(['', 'invalid_type'])],
  ['a member of an action', cancel('{"reason":1}'), invalid(['reason', 'unknown_field'])],
  [
    'unknown members at every level',
    place(`{"agent_id":"a","x":1,${recipient},"y":{}},"__proto__":{}}`),
    invalid(
      ['recipient.y', 'unknown_field'],
      ['x', 'unknown_field'],
      ['__proto__', 'unknown_field'],
    ),
  ],
  ['neither form', place('{"agent_id":"a"}'), invalid(['contact_id', 'required'])],
  [
    'both forms',
    place(`{"agent_id":"a","contact_id":"c",${recipient}}}`),
    invalid(['recipient', 'mutually_exclusive']),
  ],
  [
    'a body without anything',
    place('{}'),
    invalid(['agent_id', 'required'], ['contact_id', 'required']),
  ],

  ['255 code points within white space', contact({ name: ` ${'😀'.repeat(255)}\u3000` }), ok(201)],
  ['256 code points', contact({ name: '😀'.repeat(256) }), invalid(['name', 'too_long'])],
  ['white space only', contact({ name: ' \u0085\u3000' }), invalid(['name', 'too_short'])],
  ['a zero-width no-break space', contact({ name: '\ufeff' }), ok(201)],
  ['a field to clear', contact({ company: '', email: '' }), ok(201)],
  ['a null field', contact({ company: null }), invalid(['company', 'invalid_type'])],
  ['an empty list as text', contact({ name: [] }), invalid(['name', 'invalid_type'])],
  [
    'what only has a length',
    contact({ external_id: { length: 0 }, city: { length: 256 } }),
    invalid(['external_id', 'invalid_type'], ['city', 'invalid_type']),
  ],
  ['a long e-mail', contact({ email: 'x'.repeat(321) }), invalid(['email', 'too_long'])],
  ['a NUL', contact({ city: 'a\u0000b' }), invalid(['city', 'invalid_format'])],
  ['a lone surrogate', contact({ city: '\ud800' }), invalid(['city', 'invalid_format'])],
  ['a source in upper case', contact({ source: 'Crm' }), invalid(['source', 'invalid_format'])],
  ['a source of 65', contact({ source: 'x'.repeat(65) }), invalid(['source', 'invalid_format'])],
  [
    'a number with 0',
    contact({ phone_number: '+01234567' }),
    invalid(['phone_number', 'invalid_e164']),
  ],
  [
    'a number of 7',
    contact({ phone_number: '+1234567' }),
    invalid(['phone_number', 'invalid_e164']),
  ],
  ['a number of 8', contact({ phone_number: '+12345678' }), ok(201)],
  ['a number of 15', contact({ phone_number: '+123456789012345' }), ok(201)],
  [
    'a number and a blank',
    contact({ phone_number: '+12025550100 ' }),
    invalid(['phone_number', 'invalid_e164']),
  ],
  [
    'a number as number',
    contact({ phone_number: 12025550100 }),
    invalid(['phone_number', 'invalid_type']),
  ],
])

test('the list is cut after 50 problems and the response says so', async () => {
  const api = await startApiFixture()
  const response = await fetch(`${api.url}${aCall}/cancel`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.makeKey()}`, ...json },
    body: JSON.stringify(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`x${at}`, 1]))),
  })
  const { error } = JSON.parse(await response.text())
  assert.equal(error.details.fields.length, 50)
  assert.equal(error.details.truncated, true)
  await api.stop()
})
