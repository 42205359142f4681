import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serializeMessage, type Header, type SipMessage } from '../../sip/message/message.ts'
import { maskMessage } from './mask-message.ts'

const invite = (headers: readonly Header[], body = '', type = 'application/sdp'): SipMessage => ({
  kind: 'request',
  method: 'INVITE',
  uri: 'sip:+12025550123@198.51.100.7:5060;user=phone',
  headers: [
    ['via', 'SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK1234567890'],
    ['call-id', '12345678901234567890'],
    ['cseq', '1 INVITE'],
    ...headers,
    ...(body === '' ? [] : [['content-type', type] as const]),
  ],
  body: Buffer.from(body),
})

const textOf = (message: SipMessage): string => serializeMessage(maskMessage(message)).toString()

test('numbers are masked wherever they stand, what identifies the dialog is kept', () => {
  const text = textOf(
    invite([
      ['from', '"Zoe Miller" <sip:+12025550199@pbx.example>;tag=1234567890'],
      ['to', '<sip:+12025550123@198.51.100.7>'],
      ['p-asserted-identity', 'tel:+12025550199'],
      ['remote-party-id', 'Zoe <sip:2025550199@x>'],
      ['diversion', '<tel:+1-202-555-0199>;reason=unconditional'],
      ['refer-to', '<sip:+12025550123;phone-context=x@y>'],
    ]),
  )
  for (const number of ['2025550123', '2025550199', '555-0199']) assert.ok(!text.includes(number))
  assert.ok(!/zoe|miller/i.test(text), text)
  assert.ok(text.startsWith('INVITE sip:+1202***0123@198.51.100.7:5060;user=phone SIP/2.0\r\n'))
  assert.ok(text.includes('tag=1234567890'))
  assert.ok(text.includes('branch=z9hG4bK1234567890'))
  assert.ok(text.includes('Call-ID: 12345678901234567890'))
})

test('passwords, keys, digits and unknown headers are not kept', () => {
  const proof = 'Digest username="trunk", realm="x", response="0123456789abcdef"'
  const text = textOf(
    invite(
      [
        ['authorization', proof],
        ['proxy-authorization', proof],
        ['x-customer', 'Zoe Miller, 12 Elm Street'],
        ['subject', 'about the debt'],
      ],
      [
        'v=0',
        'o=zoe 1 1 IN IP4 192.0.2.1',
        's=Call with Zoe',
        'k=clear:secret',
        'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20',
        'a=ice-pwd:asd88fgpdd777uzjYhagZg',
        'm=audio 49170 RTP/SAVP 0',
      ].join('\r\n'),
    ),
  )
  for (const secret of [
    '0123456789abcdef',
    'username',
    'Elm',
    'debt',
    'zoe',
    'Zoe',
    'clear:secret',
  ])
    assert.ok(!text.includes(secret), secret)
  for (const secret of ['WVNfX19z', 'asd88fg']) assert.ok(!text.includes(secret), secret)
  assert.ok(text.includes('a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:***'))
  assert.ok(text.includes('m=audio 49170 RTP/SAVP 0'))
})

test('the digits that a callee pressed are not kept', () => {
  const text = textOf(invite([], 'Signal=7\r\nDuration=160', 'application/dtmf-relay'))
  assert.ok(!text.includes('Signal=7'))
  assert.match(text, /\(22 bytes that are not kept\)$/)
})

test('the length is that of the kept body', () => {
  const text = textOf(invite([], 'v=0\r\ns=a longer subject'))
  const [head = '', body = ''] = text.split('\r\n\r\n')
  assert.equal(Number(/Content-Length: (\d+)/.exec(head)?.[1]), Buffer.byteLength(body))
})
