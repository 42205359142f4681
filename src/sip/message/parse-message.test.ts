import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../tests/support/properties.ts'
import { parseNameAddress, parseVia } from './headers.ts'
import { bodyText, headerOf, headersOf, messageLimits, serializeMessage } from './message.ts'
import { parseMessage, type ParseResult } from './parse-message.ts'
import { tortureBytes, tortureMessages } from '../../../tests/support/sip/torture-messages.ts'

const messageOf = (result: ParseResult) => {
  if (!result.ok) assert.fail(result.reason)
  return result.message
}

const torture = (name: string) => {
  const found = tortureMessages.find((message) => message.name.startsWith(`${name}:`))
  assert.ok(found)
  return parseMessage(tortureBytes(found))
}

for (const message of tortureMessages) {
  test(`RFC ${message.section.startsWith('5118') ? '' : '4475 '}${message.section} ${message.name}`, () => {
    const result = parseMessage(tortureBytes(message))
    if (message.fault === undefined) {
      const taken = messageOf(result)
      assert.deepEqual(parseMessage(serializeMessage(taken)), {
        ok: true,
        message: {
          ...taken,
          headers: [
            ...taken.headers.filter(([name]) => name !== 'content-length'),
            ['content-length', String(taken.body.length)],
          ],
        },
      })
    } else {
      assert.ok(!result.ok)
      assert.equal(result.status, message.fault)
    }
  })
}

test('folded lines, compact names and lists come out as one value each', () => {
  const message = messageOf(torture('wsinv'))
  assert.equal(headersOf(message, 'via').length, 3)
  assert.equal(
    parseVia(headersOf(message, 'via')[2] ?? '')?.parameters.get('branch'),
    'z9hG4bK30239',
  )
  assert.equal(headerOf(message, 'subject'), '')
  assert.equal(headerOf(message, 'unknownheaderwithunusualvalue'), ';;,,;;,;')
  assert.equal(headerOf(message, 'newfangledheader'), 'newfangled value continued newfangled value')
  assert.equal(parseNameAddress(headerOf(message, 'from') ?? '')?.displayName, 'J Rosenberg \\"')
  const contact = parseNameAddress(headerOf(message, 'contact') ?? '')
  assert.equal(contact?.displayName, 'Quoted string ""')
  assert.equal(contact?.parameters.get('newparam'), 'newvalue')
  assert.equal(contact?.parameters.get('q'), '0.33')
})

test('the second request of one datagram is dropped with the bytes after the body', () => {
  const message = messageOf(torture('dblreq'))
  assert.equal(message.kind === 'request' && message.method, 'REGISTER')
  assert.equal(message.body.length, 0)
})

test('the body is cut by bytes, not by characters', () => {
  const body = 's=Gr\u00fc\u00dfe'
  const length = Buffer.byteLength(body)
  const text = `SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP a;branch=z9hG4bKa\r\nf: <sip:a@b>\r\nt: <sip:a@b>\r\ni: 1\r\nCSeq: 1 INVITE\r\nl: ${length}\r\n\r\n${body}tail`
  assert.equal(bodyText(messageOf(parseMessage(Buffer.from(text)))), body)
})

test('a malformed request is returned as far as it was read, so that it can get a response', () => {
  const result = torture('mismatch01')
  assert.ok(!result.ok)
  assert.equal(headerOf(result.request ?? assert.fail(), 'call-id'), 'torture.0ha0isndaksdj')
})

test('too many headers and too many bytes are refused', () => {
  const start = 'OPTIONS sip:a@b SIP/2.0\r\n'
  const many = `${start}${'X: y\r\n'.repeat(messageLimits.maxHeaders + 1)}\r\n`
  assert.equal(parseMessage(Buffer.from(many)).ok, false)
  const line = `Subject: ${'y'.repeat(messageLimits.maxLineBytes)}\r\n\r\n`
  const folded = `Subject: ${'y\r\n '.repeat(messageLimits.maxLineBytes / 2)}\r\n\r\n`
  for (const long of [line, folded]) {
    const result = parseMessage(Buffer.from(start + long))
    assert.equal(!result.ok && result.reason, 'a header line is too long')
  }
  const list = `Supported: ${'a,'.repeat(messageLimits.maxHeaders)}a\r\n\r\n`
  assert.equal(parseMessage(Buffer.from(start + list)).ok, false)
  const large = parseMessage(Buffer.alloc(messageLimits.maxBytes + 1, 0x41))
  assert.equal(!large.ok && large.status, 513)
})

test('a value with line breaks cannot add header fields to our messages', () => {
  const message = messageOf(torture('semiuri'))
  const written = serializeMessage({
    ...message,
    headers: [...message.headers, ['subject', 'a\r\nRoute: <sip:evil>']],
  })
  assert.deepEqual(headersOf(messageOf(parseMessage(written)), 'route'), [])
})

test('no bytes make the parser throw or hang', () => {
  const seeds = tortureMessages.map(tortureBytes)
  const mutation = fc.record({
    seed: fc.integer({ min: 0, max: seeds.length - 1 }),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    cut: fc.integer({ min: 0, max: 40 }),
    insert: fc.uint8Array({ maxLength: 40 }),
  })
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      let bytes = seeds[mutations[0]?.seed ?? 0] ?? Buffer.alloc(0)
      for (const { at, cut, insert } of mutations) {
        const start = Math.floor(at * bytes.length)
        bytes = Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + cut)])
      }
      const result = parseMessage(bytes)
      if (result.ok) assert.ok(parseMessage(serializeMessage(result.message)))
    }),
    { numRuns: 5000 },
  )
})

test('hostile repetitions of separators terminate, and are no address', () => {
  for (const piece of ['"', '<', ';', ',', '\\"', ';a=', ' ', '\r\n ', '(', '<"', 'a ']) {
    const value = piece.repeat(60_000 / piece.length)
    const text = `OPTIONS sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP a;branch=z9hG4bKa${value}\r\nFrom: ${value}\r\n\r\n`
    assert.equal(parseMessage(Buffer.from(text)).ok, false)
    assert.equal(parseNameAddress(value), undefined)
  }
})
