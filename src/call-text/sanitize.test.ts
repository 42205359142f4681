import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { sanitize, sanitizer } from './sanitize.ts'

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
    'labels cards with a hesitation between the groups',
    'It is 4111 uh 1111, um, 1111 1111, thanks.',
    'It is [card number], thanks.',
  ],
  [
    'leaves a few spoken digits alone',
    'Room two one two at half past three.',
    'Room two one two at half past three.',
  ],
]

const leftAlone: readonly string[] = [
  'Sam Lee and Anne-Marie O’Brien-Smith, Mr. Four, José, Ten Hag, Seven of Nine.',
  'It costs $1,234,567.89, or 1.234.567,89 €, or 1234567 euros.',
  '12345678.90 USD, £20, ¥100000, 50 percent, 10,000,000 people, 30 000 000 people, 1 000 000.',
  'On 2026-11-20, 11/20/2026, 20.11.2026, 01.02.1990, 20 11 2026, 20/11/26 10:30.',
  'On November 20, 2026, Nov 20 2026 and the 20th of November 2026.',
  'At 10:30:45, from 9:00 to 17:00, 12:00-13:00, 14:00-15:00, 2026-11-20T10:30:00.000Z.',
  'In 2024, uh, 2025 or 2026, and from nine to five or one to two.',
  'Room 1204, extension 1234, version 1.2.3.4, order 123456.',
  'Double oh seven called nine one one from a seven four seven at gate one two three four five six.',
  'Twenty twenty-six or nineteen eighty-four at three thirty on the twenty first of November.',
  'One hundred twenty three thousand four hundred fifty six.',
  'From seven thirty to nine fifteen or ten forty five to eleven thirty.',
  'Oh, one moment. Number one! Two of three. One on one, ten to five.',
  'Visit us at example.com, or look at the sandbox.',
]

/** What must not survive, and its replacement. */
const hidden: Readonly<Record<string, readonly string[]>> = {
  '[card number]': [
    '4111-1111-1111-1111',
    '4111.1111.1111.1111',
    '4111, 1111, 1111, 1111',
    '4111 - 1111 - 1111 - 1111',
    '4111_1111_1111_1111',
    '4111/1111/1111/1111',
    '6011–1111–1111–1117',
    '4111−1111−1111−1111',
    '4111•1111•1111•1111',
    '4111\u00a01111\u20091111\u202f1111',
    '4111\u00ad1111\u200b1111\u200d1111',
    '４１１１ １１１１ １１１１ １１１１',
    '٤١١١ ١١١١ ١١١١ ١١١١',
    '\u{1d7dc}111 1111 1111 1111',
    '3782 822463 10005',
    '41 11 11 11 11 11 11 11',
    '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
    'four one one one, one one one one, one one one one, one one one one',
    'four one one one... one one one one... one one one one. One one one one',
    'four, um, one one one, uh, one one one one, er, one one one one, one one one one',
    'four triple one double one 1 1 1 1 1 1 1 1 1 1',
  ],
  '[account number]': [
    'DE89370400440532013000',
    'de89 3704 0044 0532 0130 00',
    'DE 89 3704 0044 0532 0130 00',
    'ES91-2100-0418-4502-0005-1332',
    'GB29 NWBK 6016 1331 9268 19',
    'FR14 2004 1010 0505 0001 3M02 606',
    'NL91 ABNA 0417 1643 00',
    'IT60 X054 2811 1010 0000 0123 456',
    'CH93 0076 2011 6238 5295 7',
    'NO93 8601 1117 947',
    'BE68 5390 0754 7034',
    'PL61 1090 1014 0000 0712 1981 2874',
    'AT61 1904 3002 3457 3201',
    'MT84 MALT 0110 0001 2345 MTLC AST0 01S',
    'SE45 5000 0000 0583 9825 7466',
  ],
  '[social security number]': ['123-45-6789', '123 45 6789', '123 – 45 – 6789'],
  '[e-mail]': [
    'bob@example.com',
    'bob @ example.com',
    'bob@localhost',
    'x+y@sub.example.org',
    'müller@exämple.de',
    'bob at example dot com',
    'bob dot smith at gmail dot com',
    'bob underscore smith at gmail dot co dot uk',
    'j o h n at g mail dot com',
    'bob.smith at gmail.com',
    'Bob Arroba ejemplo punto es',
  ],
  '[phone number]': [
    '+1 202 555 0100',
    '(202) 555-0100',
    '202.555.0100',
    '2025550100',
    '555-0100',
    '+49 (0) 30 123456',
    '0049 30 1234567',
    '+44 20 7946 0958',
    '01 23 45 67 89',
    '01.23.45.67.89',
    '20 11 2026 33',
    '078051120',
    'two oh two, five five five, oh one double oh',
    'Two. Oh. Two. Five. Five. Five. Oh. One. Oh. Oh',
    'two zero two dash five five five dash zero one zero zero',
    'eins zwei drei vier fünf sechs sieben acht',
    'uno dos tres cuatro cinco seis siete ocho',
    'zéro un deux trois quatre cinq six sept',
    'zero jeden dwa trzy cztery pięć sześć siedem',
    'noll ett två tre fyra fem sex sju',
    'nul en tre fire fem seks syv otte',
    'nula jedna dva tři čtyři pět šest sedm',
    'zero unu doi trei patru cinci șase șapte',
    'sıfır bir iki üç dört beş altı yedi',
    'ноль один два три четыре пять шесть семь',
    '202 uh 555 um 0100',
  ],
  '[number]': ['4111 1111 1111 1112 0000', '1'.repeat(26), '202 555 0100 202 555 0101'],
}

const fragments =
  'four |one| at | dot |com|@|4111|1111 |-|+|(|, |DE89 |$| € |2026-11-20|10:30| um |.|x|\u00ad|٤| double |[|]|\u0301'.split(
    '|',
  )

describe('sanitize', () => {
  for (const [name, text, shown] of table) {
    it(name, () => assert.equal(sanitize(text), shown))
  }

  for (const text of leftAlone) it(`keeps: ${text}`, () => assert.equal(sanitize(text), text))

  for (const [label, texts] of Object.entries(hidden))
    for (const text of texts)
      it(`shows ${label} for ${JSON.stringify(text)}`, () => {
        assert.equal(sanitize(text), label)
        assert.equal(sanitize(`It is ${text}, Sam Lee.`), `It is ${label}, Sam Lee.`)
      })

  it('hides a card directly after a date, a time, a price or its neighbours', () => {
    for (const [text, shown] of [
      ['2026-11-20 4111 1111 1111 1111', '2026-11-20 [card number]'],
      ['Nov 20 2026 4111111111111111', 'Nov 20 2026 [card number]'],
      ['at 10:30, 4111 1111 1111 1111, 12 people', 'at 10:30, [card number], 12 people'],
      ['$50, 4111 1111 1111 1111', '$50, [card number]'],
      ['4111 1111 1111 1111 123', '[card number] [number]'],
      ['5500 0000 0000 0004 4111 1111 1111 1111', '[card number] [card number]'],
      ['a4111111111111111b', 'a[card number]b'],
      ['$4111 1111 1111 1111', '$[card number]'],
      ['4111111111111111 dollars', '[card number] dollars'],
    ] as const)
      assert.equal(sanitize(text), shown)
  })

  it('hides every card, however it is grouped and separated', () => {
    const separator = fc.constantFrom(
      '',
      ' ',
      '-',
      '.',
      ' - ',
      ', ',
      '/',
      '_',
      '–',
      '\u00a0',
      '\u200b',
    )
    const bodies = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 15, maxLength: 15 })
    const groups = fc.constantFrom([4, 4, 4, 4], [16], [6, 10], [8, 8], [2, 2, 2, 2, 2, 2, 2, 2])
    fc.assert(
      fc.property(bodies, groups, separator, (body, sizes, between) => {
        const card = withCheckDigit([4, ...body.slice(1)])
        let at = 0
        const parts = sizes.map((size) => card.slice(at, (at += size)))
        const shown = sanitize(`My card is ${parts.join(between)}, thanks.`)
        assert.equal(shown, 'My card is [card number], thanks.')
      }),
    )
  })

  it('hides every seven digits in a row, except a price, date or time', () => {
    const piece = fc.constantFrom(
      '1',
      '23',
      '456',
      '7890',
      ' ',
      '-',
      '. ',
      ' call ',
      ' four ',
      ' two ',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('')
        const shown = sanitize(text).replace(/\[[^\]]+\]/g, '#')
        const kept = /(?:19|20)\d\d[./-]|[./ -](?:\d\d|\d{4})(?!\d)/.test(shown)
        if (!kept) assert.doesNotMatch(shown, /\d{7}/)
      }),
    )
  })

  it('hides what a neighbouring label uncovers', () => {
    const text = ' double 4111 dot one2026-11-20'
    assert.equal(sanitize(text), '[number][phone number]')
  })

  it('changes nothing when applied again, for any text', () => {
    const words = fc.constantFrom(...fragments)
    const mixed = fc.array(words, { maxLength: 60 }).map((all) => all.join(''))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), mixed), (text) => {
        const once = sanitize(text)
        assert.equal(sanitize(once), once)
      }),
      { numRuns: 1000 },
    )
  })

  it('terminates for any text', () => {
    const hostile = [
      '1 '.repeat(20_000),
      'a.'.repeat(20_000),
      'a '.repeat(20_000),
      'DE89 '.repeat(8_000),
      'one '.repeat(10_000),
      'at dot '.repeat(8_000),
      'a@'.repeat(20_000),
      '(1'.repeat(20_000),
      '$1,'.repeat(10_000),
      '1'.repeat(50_000),
    ]
    for (const text of hostile) assert.ok(sanitize(text).length <= text.length * 4)
  })

  it('has a version, which is stored with its result', () => {
    assert.equal(sanitizer.version, 4)
    assert.equal(sanitizer.sanitize('555-0100'), '[phone number]')
  })
})

const withCheckDigit = (digits: readonly number[]): string => {
  const sum = digits.toReversed().reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit * 2 : digit
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return digits.join('') + String((10 - (sum % 10)) % 10)
}
