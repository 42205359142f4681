import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isHallucination } from './hallucinations.ts'

const spoken = { voicedMs: 700, noSpeechProbability: 0.02, meanLogProbability: -0.3 }

describe('words invented for silence', () => {
  const cases: readonly [string, Partial<typeof spoken>, boolean][] = [
    ['Thank you.', {}, false],
    ['Thank you.', { voicedMs: 120 }, true],
    ['Thank you.', { noSpeechProbability: 0.5 }, true],
    ['Thanks for watching!', { noSpeechProbability: 0.4 }, true],
    ['Yes.', { voicedMs: 120 }, false],
    ['Tuesday suits me.', { noSpeechProbability: 0.5 }, false],
    ['Tuesday suits me.', { noSpeechProbability: 0.9, meanLogProbability: -1.4 }, true],
    ['...', {}, true],
    ['', {}, true],
    ['你好', {}, false],
  ]
  for (const [text, certainty, expected] of cases) {
    it(`${JSON.stringify(text)} with ${JSON.stringify(certainty)} ${expected ? 'are' : 'are not'}`, () => {
      assert.equal(isHallucination(text, { ...spoken, ...certainty }), expected)
    })
  }
})
