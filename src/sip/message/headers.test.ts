import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  parseCSeq,
  parseDelaySeconds,
  parseNameAddress,
  parseVia,
  reasonCause,
  sessionExpiresOf,
} from './headers.ts'
import { emptyBody, type SipResponse } from './message.ts'

const responseWith = (name: string, value: string): SipResponse => ({
  kind: 'response',
  status: 200,
  reason: 'OK',
  headers: [[name, value]],
  body: emptyBody,
})

test('brackets keep URI parameters apart from header parameters', () => {
  const bracketed = parseNameAddress('"A, \\"B\\"" <sip:a@b;lr>;tag=7')
  assert.equal(bracketed?.displayName, 'A, "B"')
  assert.equal(bracketed?.uri, 'sip:a@b;lr')
  assert.equal(bracketed?.parameters.get('tag'), '7')
  const bare = parseNameAddress('sip:a@b;tag=7')
  assert.equal(bare?.uri, 'sip:a@b')
  assert.equal(bare?.parameters.get('tag'), '7')
})

test('a Via gives protocol, host, port and parameters', () => {
  const via = parseVia('SIP/2.0/tls [2001:db8::1]:5061;branch=z9hG4bKa;rport')
  assert.deepEqual(
    [via?.protocol, via?.host, via?.port, via?.parameters.get('rport')],
    ['TLS', '2001:db8::1', 5061, ''],
  )
})

test('white space may surround every part of a Via, and nothing else', () => {
  const via = parseVia('SIP / 2.0 /\tUDP  host.example : 5070 ; branch=b ; rport')
  assert.deepEqual(
    [via?.protocol, via?.host, via?.port, [...(via?.parameters ?? [])]],
    [
      'UDP',
      'host.example',
      5070,
      [
        ['branch', 'b'],
        ['rport', ''],
      ],
    ],
  )
  assert.equal(parseVia('SIP/2.0/UDP a')?.host, 'a')
  for (const broken of ['SIP/2.0/UDP', 'SIP/2.0/UDP a b', 'SIP/2.0/UDP a:', 'SIP/2.0/UDP a:99999'])
    assert.equal(parseVia(broken), undefined)
})

test('CSeq numbers end below 2^31', () => {
  assert.deepEqual(parseCSeq('0009  INVITE'), { sequence: 9, method: 'INVITE' })
  assert.equal(parseCSeq('2147483648 INVITE'), undefined)
  assert.equal(parseCSeq('1'), undefined)
})

test('Retry-After is read with its comment and parameters, and capped at a day', () => {
  assert.equal(parseDelaySeconds('30'), 30)
  assert.equal(parseDelaySeconds('18000;duration=3600'), 18_000)
  assert.equal(parseDelaySeconds('120 (I am in a meeting)'), 120)
  assert.equal(parseDelaySeconds('99999999'), 86_400)
  assert.equal(parseDelaySeconds('soon'), undefined)
  assert.equal(parseDelaySeconds(undefined), undefined)
})

test('Session-Expires gives seconds and refresher', () => {
  assert.deepEqual(sessionExpiresOf(responseWith('session-expires', '1800;refresher=UAS')), {
    seconds: 1800,
    refresher: 'uas',
  })
  assert.deepEqual(sessionExpiresOf(responseWith('session-expires', '90')), { seconds: 90 })
  assert.equal(sessionExpiresOf(responseWith('session-expires', 'x')), undefined)
})

test('the Q.850 cause is found in Reason', () => {
  assert.equal(reasonCause(responseWith('reason', 'Q.850;cause=17;text="User; busy"'), 'Q.850'), 17)
  assert.equal(reasonCause(responseWith('reason', 'SIP;cause=487'), 'Q.850'), undefined)
})
