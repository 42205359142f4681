import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { isStorableText, trimWhiteSpace } from './text.ts'

test('trimming removes exactly the code points of the Unicode property White_Space', () => {
  const whiteSpace = /^\p{White_Space}$/u
  for (let code = 0; code <= 0xffff; code += 1) {
    const character = String.fromCharCode(code)
    assert.equal(trimWhiteSpace(character) === '', whiteSpace.test(character), code.toString(16))
  }
})

test('trimmed text keeps its inside and has no white space at its ends', () => {
  const blanks = fc.stringMatching(/^[ \t\u0085\u3000]{0,5}$/)
  fc.assert(
    fc.property(blanks, fc.string({ unit: 'grapheme' }), blanks, (before, inside, after) => {
      const trimmed = trimWhiteSpace(before + inside + after)
      assert.equal(trimmed, inside.replaceAll(/^\p{White_Space}+|\p{White_Space}+$/gu, ''))
    }),
  )
})

test('NUL and lone surrogates cannot be stored, pairs can', () => {
  assert.ok(isStorableText('😀\ufeff'))
  for (const text of ['\u0000', 'a\ud800', '\udc00b', '\udc00\ud800'])
    assert.ok(!isStorableText(text))
})
