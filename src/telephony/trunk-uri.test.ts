import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bindAddressFor, parseTrunkUri, trunkTarget } from './trunk-uri.ts'

test('a trunk is parsed with every part, and with only a host', () => {
  assert.deepEqual(parseTrunkUri('sip:acc%40home:p%3Aw@sip.example.com:5070;transport=TCP'), {
    host: 'sip.example.com',
    port: 5070,
    transport: 'tcp',
    credentials: { username: 'acc@home', password: 'p:w' },
  })
  assert.deepEqual(parseTrunkUri('sip:192.0.2.1'), { host: '192.0.2.1', transport: 'udp' })
  assert.equal(parseTrunkUri('sips:sip.example.com').transport, 'tls')
  assert.equal(parseTrunkUri('sip:user@host').credentials?.password, '')
  assert.equal(parseTrunkUri('sip:host;media=Symmetric').media, 'symmetric')
  assert.equal(parseTrunkUri('sip:host;auth=SHA-256').auth, 'sha-256')
  assert.equal(parseTrunkUri('sip:host;dtmf=INFO').dtmf, 'info')
  const { redirectTo } = parseTrunkUri('sip:host;redirect=a.example.com,192.0.2.1')
  assert.deepEqual(redirectTo, ['a.example.com', '192.0.2.1'])
  for (const hosts of ['', 'a,,b', 'a:5060', 'a%20b'])
    assert.throws(() => parseTrunkUri(`sip:host;redirect=${hosts}`), /redirect of the SIP trunk/)
  assert.throws(() => parseTrunkUri('sip:host;dtmf=voice'), /dtmf of the SIP trunk/)
  assert.throws(() => parseTrunkUri('sip:host;auth=none'), /auth of the SIP trunk/)
  assert.throws(() => parseTrunkUri('sip:host;media=any'), /media of the SIP trunk/)
})

test('calls and OPTIONS go to URIs that name the transport', () => {
  const trunk = parseTrunkUri('sip:u:p@[2001:db8::1]:5061;transport=tls')
  assert.equal(trunkTarget(trunk), 'sip:[2001:db8::1]:5061;transport=tls')
  assert.equal(
    trunkTarget(parseTrunkUri('sip:gw.example.com'), '+12025550100'),
    'sip:+12025550100@gw.example.com',
  )
  // Written UDP is kept: without it, DNS may choose another transport.
  const fixed = parseTrunkUri('sip:gw.example.com;transport=udp')
  assert.equal(trunkTarget(fixed), 'sip:gw.example.com;transport=udp')
  const place = parseTrunkUri('sip:192.0.2.1;transport=udp')
  assert.equal(trunkTarget(place), 'sip:192.0.2.1')
})

test('sockets use the trunk’s IP version, and only loopback for a trunk on loopback', () => {
  const addresses = [
    ['sip.example.com', '0.0.0.0'],
    ['192.0.2.1', '0.0.0.0'],
    ['127.0.0.2', '127.0.0.1'],
    ['localhost', '127.0.0.1'],
    ['[2001:db8::1]', '::'],
    ['[::1]:5061', '::1'],
  ]
  for (const [host, address] of addresses)
    assert.equal(bindAddressFor(parseTrunkUri(`sip:${host}`)), address)
})

test('an invalid trunk is refused with a sentence that never shows the password', () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['sip.example.com', /is written sip:/],
    ['http://sip.example.com', /is written sip:/],
    ['sip:user:hunter2@', /cannot be read/],
    ['sip:user:hunter2@host:99999', /cannot be read/],
    ['sip:user:hunter2@host;transport=sctp', /udp, tcp or tls/],
    ['sip:user:hunter2@host;lr', /unknown parameter "lr"/],
    ['sips:user:hunter2@host;transport=udp', /always reached by tls/],
    ['sip:user:hunter2%@host', /not escaped/],
  ]
  for (const [text, message] of refused) {
    assert.throws(
      () => parseTrunkUri(text),
      (error) => {
        assert.ok(error instanceof Error)
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /hunter2/)
        return true
      },
    )
  }
})
