import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharesWords } from './shares-words.ts'

describe('shared words', () => {
  const message = 'Please call us back at 5 p.m., on any working day.'
  const cases = [
    ['the text itself', message, message, true],
    ['its beginning', 'Please call…', message, true],
    ['another number', 'please call us back at five pm on any working day', message, true],
    ['a reply', 'Sorry, I did not catch that. Could you say it again, please?', message, false],
    ['a language without spaces', '請回電給我們', '請您儘快回電給我們', true],
    ['nothing', '', message, true],
    ['a text without words', 'Anything.', '…', true],
  ] as const
  for (const [name, said, text, isShared] of cases)
    it(`of ${name}`, () => assert.equal(sharesWords(said, text), isShared))

  it('are found in linear time', () => {
    assert.equal(sharesWords('a '.repeat(10_000), message), false)
  })
})
