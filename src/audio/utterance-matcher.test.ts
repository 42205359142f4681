import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSynthesizer } from './flite.ts'
import { decodeG711, encodeG711 } from './g711.ts'
import { createUtteranceMatcher } from './utterance-matcher.ts'

const vocabulary = [
  'Hello?',
  'Hi, who is this?',
  'Yes.',
  'No.',
  'Yes, that works for me.',
  'No, I cannot make it.',
  'Can you call me back tomorrow?',
  'I am not interested, thank you.',
  'Please take me off your list.',
  'What time was that again?',
  'Wednesday is better.',
  'Thursday is better.',
  'Sorry, I did not hear you.',
  'Speaking.',
  'Wrong number.',
  'I am driving right now.',
  'Who gave you this number?',
  'That is fine, see you then.',
  'Goodbye.',
  'Hold on a second please.',
  'Yes, this is she.',
  'Maybe next week.',
  'How much does it cost?',
  'Please leave a message after the tone.',
]

const strangers = [
  'How are you today?',
  'I like turtles.',
  'Can I speak to the manager?',
  'Maybe later.',
  'Not really.',
  'Good evening.',
  'That would be great, thank you.',
  'Tell me more about it.',
  'I have to go now.',
  'What is the weather like?',
  'Okay.',
  'I will think about it.',
  'Do you have a website?',
  'No, thank you.',
  'Please call me tomorrow.',
  'How much time do you have?',
]

const synthesizer = createSynthesizer()
const spoken = (text: string): Int16Array => synthesizer.synthesize(text, 'kal').samples
const matcher = createUtteranceMatcher(vocabulary.map((text) => ({ text, samples: spoken(text) })))

interface Line {
  readonly noise: number
  readonly loss: number
  readonly gain: number
}

/** The clip as it arrives: shifted against the frames, with noise, through mu-law, with lost frames as silence. */
const overTheLine = (
  samples: Int16Array,
  { noise, loss, gain }: Line,
  seed: number,
): Int16Array => {
  let state = seed
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
  const shift = Math.floor(random() * 1_600)
  const line = Int16Array.from(
    { length: samples.length + shift + 800 },
    (_, at) => (samples[at - shift] ?? 0) * gain + (random() - 0.5) * 2 * noise,
  )
  const bytes = encodeG711('pcmu', line)
  for (let at = 0; at + 160 <= bytes.length; at += 160) {
    if (random() < loss) bytes.fill(0xff, at, at + 160)
  }
  return decodeG711('pcmu', bytes)
}

describe('the utterance matcher', () => {
  const lines: (Line & { atLeast: number })[] = [
    { noise: 0, loss: 0, gain: 1, atLeast: 24 },
    { noise: 100, loss: 0.02, gain: 0.7, atLeast: 23 },
    { noise: 300, loss: 0.02, gain: 1, atLeast: 22 },
  ]
  for (const line of lines) {
    it(`knows ${line.atLeast} of 24 lines at noise ${line.noise}, ${line.loss * 100} % loss, and takes none for another`, () => {
      for (const seed of [1, 2, 3]) {
        const found = vocabulary.map((text, index) => {
          const heard = overTheLine(spoken(text), line, seed * 1_000 + index)
          return matcher.match(heard)?.text
        })
        const right = vocabulary.filter((text, index) => found[index] === text)
        const wrong = found.filter((text, index) => text && text !== vocabulary[index])
        assert.ok(right.length >= line.atLeast, `${right.length} with seed ${seed}`)
        assert.deepEqual(wrong, [])
      }
    })
  }

  it('rejects speech it has never heard before', () => {
    const accepted = strangers.filter((text, index) =>
      matcher.match(overTheLine(spoken(text), { noise: 100, loss: 0.02, gain: 1 }, index + 1)),
    )
    assert.deepEqual(accepted, [])
  })

  it('is certain of the clip itself and recognizes nothing in silence or noise', () => {
    const sure = matcher.match(spoken('Wrong number.'))
    assert.equal(sure?.text, 'Wrong number.')
    assert.ok(sure.confidence > 0.99)
    assert.equal(matcher.match(new Int16Array(0)), undefined)
    assert.equal(matcher.match(new Int16Array(16_000)), undefined)
    const noise = { noise: 2_000, loss: 0, gain: 1 }
    assert.equal(matcher.match(overTheLine(new Int16Array(8_000), noise, 7)), undefined)
  })

  it('recognizes nothing without a vocabulary', () => {
    assert.equal(createUtteranceMatcher([]).match(spoken('Yes.')), undefined)
  })
})
