import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { fc } from '../../../tests/support/properties.ts'
import { createHmacSha1 } from './hmac-sha1.ts'

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
const hexOf = (digest: Uint8Array): string => Buffer.from(digest).toString('hex')

test('the published vectors of RFC 2202 come out', () => {
  const vectors = [
    ['0b'.repeat(20), 'Hi There', 'b617318655057264e28bc0b6fb378c8ef146be00'],
    [
      Buffer.from('Jefe').toString('hex'),
      'what do ya want for nothing?',
      'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79',
    ],
  ] as const
  for (const [key, text, expected] of vectors)
    assert.equal(hexOf(createHmacSha1(bytes(key))(Buffer.from(text))), expected)
  assert.equal(
    hexOf(createHmacSha1(bytes('aa'.repeat(20)))(bytes('dd'.repeat(50)))),
    '125d7342b9ac11cd91a39af48aa17b4f63f175d3',
  )
})

test('every length up to six blocks gives what node:crypto gives, with the same key again and again', () => {
  const key = bytes('0123456789abcdef0123456789abcdef01234567')
  const own = createHmacSha1(key)
  for (let length = 0; length <= 384; length += 1) {
    const text = Buffer.alloc(length, length)
    assert.equal(hexOf(own(text)), createHmac('sha1', key).update(text).digest('hex'))
  }
})

test('any key and any parts give what node:crypto gives', () => {
  const part = fc.uint8Array({ maxLength: 1_300 })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), part, part, part, (key, a, b, c) => {
      const expected = createHmac('sha1', key).update(a).update(b).update(c).digest('hex')
      assert.equal(hexOf(createHmacSha1(key)(a, b, c)), expected)
    }),
  )
})

test('a text that is too long is refused, and so is such a key', () => {
  assert.throws(() => createHmacSha1(new Uint8Array(20))(new Uint8Array(4_097)))
  assert.throws(() => createHmacSha1(new Uint8Array(65)))
})
