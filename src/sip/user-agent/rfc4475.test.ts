import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { originalMessages, type OriginalMessage } from '../../../tests/support/sip/rfc4475.ts'
import { startAgent } from '../../../tests/support/sip/test-agents.ts'
import { parseNameAddress } from '../message/headers.ts'
import {
  bodyText,
  headerOf,
  headersOf,
  serializeMessage,
  type SipMessage,
  type SipRequest,
} from '../message/message.ts'
import { parseMessage } from '../message/parse-message.ts'
import { parseSipUri } from '../message/uri.ts'

const original = (name: string): OriginalMessage =>
  originalMessages.find((each) => each.name === name) ?? assert.fail(name)

const messageOf = (name: string): SipMessage => {
  const result = parseMessage(original(name).bytes)
  return result.ok ? result.message : assert.fail(result.reason)
}

const requestOf = (name: string): SipRequest => {
  const message = messageOf(name)
  return message.kind === 'request' ? message : assert.fail('a response')
}

test('there are the 49 messages of the RFC', () => {
  assert.equal(originalMessages.length, 49)
  assert.equal(new Set(originalMessages.map(({ section }) => section)).size, 49)
})

for (const { name, section, bytes, fault } of originalMessages)
  test(`RFC 4475 ${section} ${name} is ${fault === undefined ? 'taken' : `refused by ${fault}`}`, () => {
    const result = parseMessage(bytes)
    if (fault !== undefined) {
      assert.ok(!result.ok)
      assert.equal(result.status, fault)
      return
    }
    assert.ok(result.ok, result.ok ? '' : result.reason)
    const again = parseMessage(serializeMessage(result.message))
    assert.ok(again.ok)
    assert.deepEqual(
      headersOf(again.message, 'via'),
      headersOf(result.message, 'via'),
      'what is written reads the same',
    )
    assert.deepEqual(again.message.body, result.message.body)
  })

test('3.1.1.1: folded lines, compact names and leading zeros are read as the RFC states', () => {
  const message = requestOf('wsinv')
  assert.equal(headersOf(message, 'via').length, 3)
  assert.equal(headerOf(message, 'cseq'), '0009 INVITE')
  assert.equal(headerOf(message, 'subject'), '')
  assert.equal(headerOf(message, 'unknownheaderwithunusualvalue'), ';;,,;;,;')
  assert.equal(parseNameAddress(headerOf(message, 'from') ?? '')?.displayName, 'J Rosenberg \\"')
  assert.equal(message.body.length, 150)
})

test('3.1.1.3 and 3.1.1.4: escapes stay in users, and do not end a URI', () => {
  assert.equal(parseSipUri(requestOf('esc01').uri)?.host, 'example.net')
  const contacts = headersOf(messageOf('escnull'), 'contact').map((value) =>
    parseSipUri(parseNameAddress(value)?.uri ?? ''),
  )
  assert.deepEqual(
    contacts.map((uri) => uri?.user),
    ['%00', '%00%00'],
  )
})

test('3.1.1.5: an escaped method is an unknown one, and an escaped name no Contact', () => {
  const message = requestOf('esc02')
  assert.equal(message.method, 'RE%47IST%45R')
  assert.equal(headersOf(message, 'contact').length, 2)
  assert.equal(parseNameAddress(headerOf(message, 'to') ?? '')?.displayName, '%Z%45')
})

test('3.1.1.6: a display name may touch its bracket', () => {
  assert.equal(
    parseNameAddress(headerOf(messageOf('lwsdisp'), 'from') ?? '')?.displayName,
    'caller',
  )
})

test('3.1.1.8: of two requests in one datagram only the first is read', () => {
  const message = requestOf('dblreq')
  assert.equal(message.method, 'REGISTER')
  assert.equal(message.body.length, 0)
})

test('3.1.1.9: parameters inside a user belong to it', () => {
  assert.equal(parseSipUri(requestOf('semiuri').uri)?.user, 'user;par=u%40example.net')
})

test('3.1.1.11: a body keeps its bytes', () => {
  const { body } = messageOf('mpart01')
  assert.equal(body.length, Number(headerOf(messageOf('mpart01'), 'content-length')))
  assert.ok(body.includes(0))
})

test('3.1.1.12 and 3.1.1.13: a reason phrase may have any script, or none', () => {
  const phrases = ['unreason', 'noreason'].map((name) => {
    const message = messageOf(name)
    return message.kind === 'response' ? message.reason : assert.fail(name)
  })
  assert.match(phrases[0] ?? '', /^= 2\*\*3 \* 5\*\*2 /)
  assert.equal(phrases[1], '')
})

test('3.1.2.15: the comma is refused, whether or not the empty line comes, which the archive lacks', () => {
  const result = parseMessage(Buffer.concat([original('baddn').bytes, Buffer.from('\r\n')]))
  assert.ok(!result.ok)
  assert.equal(result.status, 400)
  assert.match(result.reason, /(from|to) cannot be read/)
})

test('3.4.1: a request of RFC 2543 has a body, a route and no branch', () => {
  const message = messageOf('inv2543')
  assert.match(bodyText(message), /^v=0/)
  assert.equal(headersOf(message, 'record-route').length, 1)
})

/** With rport, so that the response comes back to this socket. The other bytes stay. */
const withRport = (bytes: Buffer): Buffer =>
  Buffer.from(
    bytes
      .toString('latin1')
      .replace(/\r\n(?:via|v)[ \t]*:(?:[^;\r,]|\r\n[ \t])*/i, (found) => `${found};rport`),
    'latin1',
  )

const socketOf = async (t: TestContext): Promise<Socket> => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return socket
}

for (const { name, section, bytes, answer } of originalMessages)
  test(`RFC 4475 ${section} ${name} gets ${answer ?? 'no response'}`, async (t) => {
    const agent = await startAgent(t)
    const socket = await socketOf(t)
    socket.send(withRport(bytes), agent.localPort, '127.0.0.1')
    // Shows that the agent goes on, and that nothing came before.
    socket.send(withRport(probe), agent.localPort, '127.0.0.1')
    const [first] = (await once(socket, 'message')) as [Buffer]
    const expected = answer ?? 200
    assert.equal(first.toString('latin1', 0, 11), `SIP/2.0 ${expected}`)
    assert.equal(first.includes('probe-4475'), answer === undefined)
    if (answer === undefined) return
    const [next] = (await once(socket, 'message')) as [Buffer]
    assert.ok(next.includes('probe-4475'))
  })

const probe = Buffer.from(
  [
    'OPTIONS sip:user@example.com SIP/2.0',
    'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKprobe',
    'From: <sip:probe@example.net>;tag=1',
    'To: <sip:user@example.com>',
    'Call-ID: probe-4475',
    'CSeq: 1 OPTIONS',
    'Max-Forwards: 70',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n'),
)
