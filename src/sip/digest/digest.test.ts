import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDigestPolicy } from './digest-policy.ts'
import { createDigestClient, type Credentials, type HopDigest } from './digest.ts'
import { createDigestServer } from './digest-server.ts'
import { emptyBody, type Header, type SipResponse } from '../message/message.ts'
import { parseParameters, splitOutsideQuotes } from '../message/header-syntax.ts'

const challenge = (status: 401 | 407, ...values: readonly string[]): SipResponse => ({
  kind: 'response',
  status,
  reason: '',
  headers: values.map((value): Header => [
    status === 401 ? 'www-authenticate' : 'proxy-authenticate',
    value,
  ]),
  body: emptyBody,
})

const fieldOf = (header: Header | undefined, name: string): string | undefined =>
  parseParameters(
    splitOutsideQuotes((header?.[1] ?? '').slice('Digest '.length), ',').join(';'),
  )?.get(name)

/** The client's half towards its trunk, which answers every challenge of the trunk. */
const openClient = (credentials: Credentials | undefined, newCnonce?: () => string): HopDigest =>
  createDigestClient(credentials, {
    policy: createDigestPolicy({ weakest: 'rfc2069' }),
    isFirstHop: () => true,
    ...(newCnonce && { newCnonce }),
  }).towards({ protocol: 'udp', address: '192.0.2.1', port: 5060 })

const request = { method: 'GET', uri: '/dir/index.html', body: emptyBody }
const invite = { method: 'INVITE', uri: 'sip:a@b', body: Buffer.from('v=0') }

test('RFC 2617 3.5: MD5 with qop auth', () => {
  const client = openClient({ username: 'Mufasa', password: 'Circle Of Life' }, () => '0a4f113b')
  const learnt = client.learn(
    challenge(
      401,
      'Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
    ),
  )
  assert.ok(learnt)
  const [header] = client.sign(request)
  assert.equal(header?.[0], 'authorization')
  assert.equal(fieldOf(header, 'response'), '6629fae49393a05397450978507c4ef1')
  assert.equal(fieldOf(header, 'nc'), '00000001')
  assert.equal(fieldOf(header, 'opaque'), '5ccc069c403ebaf9f0171e9517f40e41')
  assert.equal(fieldOf(header, 'algorithm'), undefined)
})

test('RFC 7616 3.9.1: SHA-256 is preferred to MD5, whatever their order', () => {
  const client = openClient(
    { username: 'Mufasa', password: 'Circle of Life' },
    () => 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  )
  const fields =
    'realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
  client.learn(
    challenge(401, `Digest ${fields}, algorithm=MD5`, `Digest ${fields}, algorithm=SHA-256`),
  )
  const [header] = client.sign(request)
  assert.equal(
    fieldOf(header, 'response'),
    '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
  )
  assert.equal(fieldOf(header, 'algorithm'), 'SHA-256')
})

test('RFC 7616 3.9.1: the same exchange with MD5 alone', () => {
  const client = openClient(
    { username: 'Mufasa', password: 'Circle of Life' },
    () => 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  )
  client.learn(
    challenge(
      401,
      'Digest realm="http-auth@example.org", qop="auth", algorithm=MD5, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"',
    ),
  )
  assert.equal(fieldOf(client.sign(request)[0], 'response'), '8ca523f5e9506fed4657c9700eebdbec')
})

test('a challenge without qop is answered as in RFC 2069', () => {
  const client = openClient({ username: 'Mufasa', password: 'CircleOfLife' })
  client.learn(
    challenge(
      401,
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
    ),
  )
  const [header] = client.sign(request)
  assert.equal(fieldOf(header, 'response'), '1949323746fe6a43ef61f9606e7febea')
  assert.equal(fieldOf(header, 'nc'), undefined)
})

test('every algorithm and auth-int is understood by a server that knows the password', () => {
  for (const algorithm of ['MD5', 'MD5-sess', 'SHA-256', 'SHA-512-256'] as const) {
    const credentials = { username: 'trunk', password: 'p"w\\d' }
    const server = createDigestServer(credentials, { realm: 'a, b', algorithm })
    const client = openClient(credentials)
    assert.ok(client.learn(challenge(407, server.challenge())))
    assert.ok(server.verify(client.sign(invite)[0]?.[1], invite), algorithm)
  }
})

test('auth-int covers the body', () => {
  const sign = (body: string): string | undefined => {
    const client = openClient({ username: 'a', password: 'b' }, () => 'c')
    client.learn(challenge(401, 'Digest realm="r", nonce="n", qop="auth-int"'))
    return fieldOf(client.sign({ ...invite, body: Buffer.from(body) })[0], 'response')
  }
  assert.notEqual(sign('v=0'), sign('v=1'))
})

test('the nonce counter rises with each request, and a replay is refused', () => {
  const credentials = { username: 'a', password: 'b' }
  const server = createDigestServer(credentials, { realm: 'r' })
  const client = openClient(credentials)
  client.learn(challenge(407, server.challenge()))
  const first = client.sign(invite)[0]?.[1]
  const second = client.sign(invite)[0]
  assert.equal(fieldOf(second, 'nc'), '00000002')
  assert.ok(server.verify(first, invite))
  assert.ok(!server.verify(first, invite))
  assert.ok(server.verify(second?.[1], invite))
})

test('401 and 407 on one path are answered side by side', () => {
  const client = openClient({ username: 'a', password: 'b' })
  assert.ok(client.learn(challenge(407, 'Digest realm="proxy", nonce="1"')))
  assert.ok(client.learn(challenge(401, 'Digest realm="registrar", nonce="2"')))
  assert.deepEqual(
    client.sign(invite).map(([name]) => name),
    ['proxy-authorization', 'authorization'],
  )
})

test('every realm of one response is answered, each by its strongest algorithm', () => {
  const client = openClient({ username: 'a', password: 'b' })
  const both = [
    'Digest realm="east", nonce="1", algorithm=MD5',
    'Digest realm="west", nonce="2", algorithm=SHA-256',
    'Digest realm="east", nonce="3", algorithm=SHA-512-256',
    'Digest realm="west", nonce="4", algorithm=MD5',
  ]
  assert.ok(client.learn(challenge(407, ...both)))
  const answers = client.sign(invite)
  const nonceOf = Object.fromEntries(
    answers.map((answer) => [fieldOf(answer, 'realm'), fieldOf(answer, 'nonce')]),
  )
  assert.deepEqual(nonceOf, { east: '3', west: '2' })
  assert.ok(answers.every(([name]) => name === 'proxy-authorization'))
  assert.ok(!client.learn(challenge(407, 'Digest realm="west", nonce="5"')))
})

test('a server that keeps asking for new realms is given up', () => {
  const client = openClient({ username: 'a', password: 'b' })
  const many = Array.from({ length: 5 }, (_, i) => `Digest realm="${i}", nonce="n"`)
  assert.ok(!client.learn(challenge(401, ...many)))
})

test('a wrong password ends, a stale nonce is answered once more', () => {
  const client = openClient({ username: 'a', password: 'wrong' })
  assert.ok(client.learn(challenge(401, 'Digest realm="r", nonce="1"')))
  assert.ok(!client.learn(challenge(401, 'Digest realm="r", nonce="2"')))
  assert.ok(client.learn(challenge(401, 'Digest realm="r", nonce="3", stale=TRUE')))
})

test('a new nonce after accepted credentials is answered', () => {
  const client = openClient({ username: 'a', password: 'b' })
  client.learn(challenge(401, 'Digest realm="r", nonce="1"'))
  client.prove({ ...challenge(401), status: 200 })
  assert.ok(client.learn(challenge(401, 'Digest realm="r", nonce="2"')))
})

test('nothing is answered without credentials, or to an unknown scheme', () => {
  assert.ok(!openClient(undefined).learn(challenge(401, 'Digest realm="r", nonce="1"')))
  const client = openClient({ username: 'a', password: 'b' })
  const unknown = [
    'Basic realm="r"',
    'Digest realm="r", nonce="1", algorithm=AKAv1-MD5',
    'Digest realm="r", nonce="1", qop="token"',
    'Digest nonce="1"',
    'Digest realm="r, nonce="1',
  ]
  for (const value of unknown) assert.ok(!client.learn(challenge(401, value)), value)
  assert.deepEqual(client.sign(invite), [])
})
