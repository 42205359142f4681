import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSynthesizer } from '../../../audio/flite.ts'
import { decodeG711, encodeG711 } from '../../../audio/g711.ts'
import { unrecognisedText } from '../../../call-text/unrecognised-text.ts'
import { splitSentences } from './sentences.ts'
import { createUnderstanding } from './understanding.ts'

const vocabulary = [
  'Hello?',
  'Hello, this is Sam speaking.',
  'That sounds good. Tuesday morning works for me.',
  'Please never call me again. Take me off your list.',
  'You have reached the voicemail of Alex Morgan. I am not available right now. Please leave a message after the tone.',
]
const synthesizer = createSynthesizer()
const understanding = createUnderstanding(vocabulary, synthesizer)

const heard = (...texts: string[]): Int16Array => {
  const pause = new Int16Array(2_400)
  const parts = texts.flatMap((text) => [synthesizer.synthesize(text, 'kal').samples, pause])
  const samples = Int16Array.from(parts.flatMap((part) => Array.from(part)))
  return decodeG711('pcmu', encodeG711('pcmu', samples))
}

describe('the scripted understanding', () => {
  for (const line of vocabulary) {
    it(`knows "${line}"`, () => assert.equal(understanding.understand(heard(line)), line))
  }

  it('recognizes a single sentence of a line, and lines spoken without a break', () => {
    assert.equal(
      understanding.understand(heard('Take me off your list.')),
      'Take me off your list.',
    )
    assert.equal(
      understanding.understand(heard('Hello?', 'That sounds good. Tuesday morning works for me.')),
      'Hello? That sounds good. Tuesday morning works for me.',
    )
  })

  it('keeps known sentences between unknown ones', () => {
    assert.equal(
      understanding.understand(heard('I like turtles very much.', 'Take me off your list.')),
      `${unrecognisedText} Take me off your list.`,
    )
  })

  it('understands nothing else', () => {
    assert.equal(understanding.understand(heard('I like turtles very much.')), unrecognisedText)
    assert.equal(understanding.understand(new Int16Array(8_000)), unrecognisedText)
  })
})

describe('splitSentences', () => {
  it('splits after the marks that end a sentence', () => {
    assert.deepEqual(splitSentences(' Hi!  Who is this? Sam.'), ['Hi!', 'Who is this?', 'Sam.'])
    assert.deepEqual(splitSentences('No mark'), ['No mark'])
    assert.deepEqual(splitSentences('  '), [])
  })
})
