import { fc } from './properties.ts'

const nasty = [
  '\u001b[2J\u001b[1;1H',
  '\u001b]0;title\u0007',
  '\u009b31m',
  '\u0085',
  '\r\nVia: SIP/2.0/UDP evil.example',
  '\n',
  '\r',
  '\t',
  '\u0000',
  '\u0008\u0008',
  '\u007f',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u2066',
  '\u2069',
  '\u200e',
  '\u200f',
  '\u061c',
  '\ud83d',
  '\udc00',
  '"',
  '\\',
  '<>;,?@',
  '{"a":1}',
  '\u6771\u4eac',
  '\u{1f469}\u200d\u{1f4bb}',
  'e\u0301',
]

/** A hostile name: control characters, terminal escapes, reversed direction, broken surrogates. */
export const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...nasty),
      fc.string({ maxLength: 8 }),
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

/**
 * Whether one line of text can neither move a cursor, nor begin another line, nor change the order of its
 * characters.
 */
export const isHarmless = (line: string): boolean =>
  line.isWellFormed() &&
  Array.from(line).every((character) => {
    const code = character.codePointAt(0) ?? 0
    const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f)
    const turnsOrder =
      code === 0x61c ||
      code === 0x200e ||
      code === 0x200f ||
      (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2066 && code <= 0x2069)
    return !isControl && !turnsOrder
  })
