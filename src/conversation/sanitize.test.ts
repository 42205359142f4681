import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { sanitize } from './sanitize.ts'

const table: readonly (readonly [name: string, text: string, shown: string])[] = [
  [
    'leaves names and small numbers alone',
    'Sam Lee, at 3:30 on May 4th, room 212.',
    'Sam Lee, at 3:30 on May 4th, room 212.',
  ],
  [
    'leaves dates alone',
    'On 2026-11-20 10:30, or 20.11.2026.',
    'On 2026-11-20 10:30, or 20.11.2026.',
  ],
  ['joins white space', '  Yes,\n\tthat   works. ', 'Yes, that works.'],
  ['removes controls and direction marks', 'a\u0000b\u202Ec\u2066d\u200Be', 'abcde'],
  ['replaces lone surrogates', 'a\uD800b', 'a\uFFFDb'],
  ['composes characters', 'Jose\u0301', 'José'],
  ['keeps joined emoji whole', '👩‍👧 fine', '👩‍👧 fine'],
  [
    'labels cards that pass Luhn',
    'It is 4111 1111 1111 1111, valid.',
    'It is [card number], valid.',
  ],
  ['labels a long number that is no card', 'Order 4111 1111 1111 1112 0000.', 'Order [number].'],
  [
    'labels IBANs that check',
    'Take DE89 3704 0044 0532 0130 00 please.',
    'Take [account number] please.',
  ],
  [
    'labels social security numbers',
    'My number is 078-05-1120.',
    'My number is [social security number].',
  ],
  ['labels e-mail addresses', 'Write to sam.lee+x@mail.example.com!', 'Write to [e-mail]!'],
  ['labels spoken e-mail addresses', 'Write to sam at example dot com.', 'Write to [e-mail].'],
  [
    'labels phone numbers',
    'Call +1 (202) 555-0100 or 202-555-0101.',
    'Call [phone number] or [phone number].',
  ],
  [
    'labels spoken phone numbers',
    'It is two oh two, five five five, oh one double oh.',
    'It is [phone number].',
  ],
  [
    'labels spoken cards',
    'four one one one one one one one one one one one one one one one',
    '[card number]',
  ],
  [
    'leaves a few spoken digits alone',
    'Room two one two at half past three.',
    'Room two one two at half past three.',
  ],
]

describe('sanitize', () => {
  for (const [name, text, shown] of table) {
    it(name, () => assert.equal(sanitize(text), shown))
  }

  it('changes nothing when applied again, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const once = sanitize(text)
        assert.equal(sanitize(once), once)
      }),
    )
  })

  it('takes no longer than the text is long', () => {
    const hostile = [
      '1 '.repeat(20_000),
      'a.'.repeat(20_000),
      'DE89 '.repeat(8_000),
      'one '.repeat(10_000),
    ]
    for (const text of hostile) assert.ok(sanitize(text).length <= text.length)
  })
})
