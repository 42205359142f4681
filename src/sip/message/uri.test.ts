import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostPort, parseSipUri } from './uri.ts'

test('a SIP URI is parsed into user, password, host, port and parameters', () => {
  assert.deepEqual(parseSipUri('sip:alice:s3cret@Atlanta.example.com:5070;transport=TCP;lr'), {
    scheme: 'sip',
    user: 'alice',
    password: 's3cret',
    host: 'Atlanta.example.com',
    port: 5070,
    parameters: new Map([
      ['transport', 'TCP'],
      ['lr', ''],
    ]),
  })
})

test('IPv6 hosts lose their brackets and get them back', () => {
  assert.equal(parseSipUri('sips:[2001:db8::1]:5061')?.host, '2001:db8::1')
  assert.equal(hostPort('2001:db8::1', 5061), '[2001:db8::1]:5061')
  assert.equal(hostPort('192.0.2.1'), '192.0.2.1')
})

test('text that is no SIP URI is refused', () => {
  const refused = [
    'tel:+12025550100',
    'sip:',
    'sip:a@',
    'sip:a b@host',
    'sip:a@host:0',
    'sip:a@host:70000',
    'sip:a@host?Route=x',
    'sip:a@[zz::]',
    'sip:a@-host',
    'sip:a@host;=x',
    'sip:a@host\r\nVia: x',
  ]
  for (const text of refused) assert.equal(parseSipUri(text), undefined, text)
})
