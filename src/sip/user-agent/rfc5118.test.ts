import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ipv6Messages } from '../../../tests/support/sip/rfc5118.ts'
import { tortureBytes } from '../../../tests/support/sip/torture-messages.ts'
import { readMediaLines } from '../../sdp/read-sdp.ts'
import { parseNameAddress, parseVia, topVia, type Via } from '../message/headers.ts'
import { bodyText, headerOf, headersOf, type SipRequest } from '../message/message.ts'
import { parseMessage } from '../message/parse-message.ts'
import { parseSipUri, type SipUri } from '../message/uri.ts'

/** Each message is also parsed, written again, answered and mutated with those in the style of RFC 4475. */
test('there are the twelve messages of the RFC', () => {
  assert.equal(ipv6Messages.length, 12)
})

/** @param length replaces the Content-Length that the RFC prints. */
const requestOf = (name: string, length?: number): SipRequest => {
  const message = ipv6Messages.find((each) => each.name.startsWith(`${name}:`))
  assert.ok(message)
  const text =
    length === undefined
      ? message.text
      : message.text.replace(/Content-Length: \d+/, `Content-Length: ${length}`)
  const result = parseMessage(tortureBytes({ ...message, text }))
  assert.ok(result.ok, result.ok ? '' : result.reason)
  return result.message.kind === 'request' ? result.message : assert.fail('a response')
}

const uriOf = (name: string): SipUri | undefined => parseSipUri(requestOf(name).uri)
const contactOf = (message: SipRequest): SipUri | undefined =>
  parseSipUri(parseNameAddress(headerOf(message, 'contact') ?? '')?.uri ?? '')
const viasOf = (message: SipRequest): (Via | undefined)[] => headersOf(message, 'via').map(parseVia)

test('4.1: references are read without their brackets', () => {
  const message = requestOf('ipv6-good')
  assert.equal(parseSipUri(message.uri)?.host, '2001:db8::10')
  assert.equal(topVia(message)?.host, '2001:db8::9:1')
  assert.equal(contactOf(message)?.host, '2001:db8::1')
})

test('4.3 and 4.4: only a number behind the brackets is a port', () => {
  const ambiguous = uriOf('port-ambiguous')
  assert.deepEqual([ambiguous?.host, ambiguous?.port], ['2001:db8::10:5070', undefined])
  const plain = uriOf('port-unambiguous')
  assert.deepEqual([plain?.host, plain?.port], ['2001:db8::10', 5070])
})

test('4.5: received is read with brackets and without', () => {
  const received = ['via-received-param-with-delim', 'via-received-param-no-delim'].map((name) =>
    topVia(requestOf(name))?.parameters.get('received'),
  )
  assert.deepEqual(received, ['[2001:db8::9:255]', '2001:db8::9:255'])
})

test('4.6: with its true length the message is taken, and its SDP is read', () => {
  const message = requestOf('ipv6-in-sdp', 251)
  assert.match(bodyText(message), /^c=IN IP6 2001:db8::20\r$/m)
  assert.deepEqual(
    readMediaLines(bodyText(message)).map(({ type }) => type),
    ['audio', 'video'],
  )
})

test('4.7: the Vias of both versions are read in their order', () => {
  const vias = viasOf(requestOf('mult-ip-in-header'))
  assert.deepEqual(
    vias.map((via) => [via?.protocol, via?.host, via?.port]),
    [
      ['UDP', '2001:db8::9:1', 6050],
      ['UDP', '192.0.2.1', undefined],
      ['TCP', '2001:db8::9:255', undefined],
    ],
  )
  assert.equal(vias[2]?.parameters.get('received'), '192.0.2.200')
})

test('4.8: the body ends where Content-Length states, and with its true length it is whole', () => {
  assert.equal(requestOf('mult-ip-in-sdp').body.length, 181)
  const whole = bodyText(requestOf('mult-ip-in-sdp', 189))
  assert.deepEqual(readMediaLines(whole), [
    { type: 'audio', protocol: 'RTP/AVP', payloads: '0' },
    { type: 'video', protocol: 'RTP/AVP', payloads: '107' },
  ])
})

test('4.9: an IPv4 address may stand in an IPv6 one', () => {
  const message = requestOf('ipv4-mapped-ipv6')
  assert.deepEqual(
    viasOf(message).map((via) => [via?.host, via?.port]),
    [
      ['::ffff:192.0.2.10', 19_823],
      ['::ffff:192.0.2.2', undefined],
    ],
  )
  assert.equal(contactOf(message)?.host, '::ffff:192.0.2.2')
})

test('4.10: two colons before an IPv4 address are right', () => {
  assert.equal(uriOf('ipv6-correct-abnf-2-colons')?.host, '2001:db8::192.0.2.1')
})
