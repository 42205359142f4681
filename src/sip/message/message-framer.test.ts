import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../tests/support/properties.ts'
import { MessageFramer } from './message-framer.ts'
import { messageLimits } from './message.ts'

const message = (body: string): string =>
  `OPTIONS sip:a@b SIP/2.0\r\nCall-ID: 1\r\nl :\t${Buffer.byteLength(body)}\r\n\r\n${body}`

test('messages come out whole, however the stream is split', () => {
  const stream = Buffer.from(
    ['', 'v=0', '\r\n\r\n', 'gr\u00fc\u00dfe'].map(message).join('\r\n\r\n'),
  )
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (sizes) => {
      const framer = new MessageFramer(() => {})
      const out: Buffer[] = []
      for (let at = 0, turn = 0; at < stream.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1
        out.push(...framer.push(stream.subarray(at, at + size)))
        at += size
      }
      assert.deepEqual(
        out.map((bytes) => bytes.toString().split('\r\n\r\n').slice(1).join('\r\n\r\n')),
        ['', 'v=0', '\r\n\r\n', 'gr\u00fc\u00dfe'],
      )
    }),
  )
})

test('a double CRLF requests a response, a single one does not', () => {
  let pings = 0
  const framer = new MessageFramer(() => {
    pings += 1
  })
  framer.push(Buffer.from('\r\n'))
  assert.equal(pings, 0)
  framer.push(Buffer.from('\r\n\r\n'))
  assert.equal(pings, 1)
})

test('a message that arrives byte by byte comes out once, and the next one after it', () => {
  const framer = new MessageFramer(() => assert.fail('nobody asked for a sign of life'))
  const stream = Buffer.from(`\r\n${message('v=0')}\r\n${message('')}`)
  const out = [...stream].flatMap((byte) => framer.push(Buffer.of(byte)))
  assert.deepEqual(out.map(String), [message('v=0'), message('')])
})

test('a message stays unchanged while the stream continues', () => {
  const framer = new MessageFramer(() => {})
  const [first] = framer.push(Buffer.from(message('first') + message('second').slice(0, 20)))
  framer.push(Buffer.from('x'.repeat(3_000)))
  assert.equal(String(first), message('first'))
})

test('a header line beyond the limit, or an endless header, closes the stream', () => {
  const start = 'OPTIONS sip:a@b SIP/2.0\r\nl: 0\r\n'
  const fits = new MessageFramer(() => {})
  const line = `X: ${'y'.repeat(messageLimits.maxLineBytes - 4)}\r\n`
  assert.equal(fits.push(Buffer.from(`${start}${line}\r\n`)).length, 1)
  const long = new MessageFramer(() => {})
  assert.throws(() =>
    long.push(Buffer.from(`${start}X: ${'y'.repeat(messageLimits.maxLineBytes)}`)),
  )
  const endless = new MessageFramer(() => {})
  assert.throws(() => endless.push(Buffer.from(start + 'X: y\r\n'.repeat(12_000))))
})

test('a stream without message borders is given up', () => {
  const endless = new MessageFramer(() => {})
  assert.throws(() => endless.push(Buffer.alloc(messageLimits.maxBytes + 1, 0x41)))
  const unmeasured = new MessageFramer(() => {})
  assert.throws(() => unmeasured.push(Buffer.from('OPTIONS sip:a@b SIP/2.0\r\nCall-ID: 1\r\n\r\n')))
  const huge = new MessageFramer(() => {})
  assert.throws(() => huge.push(Buffer.from('A\r\nContent-Length: 99999999\r\n\r\n')))
})
