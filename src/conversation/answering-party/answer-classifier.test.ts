import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { frameMs, frameSamples } from '../../audio/frame.ts'
import { createSynthesizer } from '../../audio/flite.ts'
import { createVoiceActivityDetector } from '../../audio/voice-activity.ts'
import { joinSamples, silence, sine } from '../../audio/tones.ts'
import { AnswerClassifier, type AnswerKind } from './answer-classifier.ts'
import {
  createLabelledAnswers,
  type LabelledAnswer,
} from '../../../tests/support/conversation/labelled-answers.ts'

type Column = AnswerKind | 'person'

/**
 * How the loop would judge an answer: the first verdict that ends or redirects the call, else a
 * person.
 */
const classify = async (answer: LabelledAnswer, isUnderstood: boolean): Promise<Column> => {
  const classifier = new AnswerClassifier()
  const voiceActivity = await createVoiceActivityDetector()
  const turns = isUnderstood ? [...answer.turns] : []
  try {
    for (let at = 0; at + frameSamples <= answer.samples.length; at += frameSamples) {
      const frame = answer.samples.subarray(at, at + frameSamples)
      const heard = classifier.push(frame, voiceActivity.isVoiced(frame))
      const isTime = turns[0] && turns[0].atMs <= (at / frameSamples) * frameMs
      const words = isTime ? classifier.heardText(turns.shift()?.text ?? '') : undefined
      const verdict = heard ?? words
      if (verdict) return verdict.kind
    }
    return 'person'
  } finally {
    voiceActivity.close()
  }
}

const columns: readonly Column[] = [
  'person',
  'voicemail',
  'screening',
  'busy',
  'unobtainable',
  'fax',
  'callee_gone',
]

type Matrix = ReadonlyMap<LabelledAnswer['label'], ReadonlyMap<Column, number>>

const judgeAll = async (
  answers: readonly LabelledAnswer[],
  isUnderstood: boolean,
): Promise<{ matrix: Matrix; errors: string[] }> => {
  const matrix = new Map<LabelledAnswer['label'], Map<Column, number>>()
  const errors: string[] = []
  for (const answer of answers) {
    const found = await classify(answer, isUnderstood)
    const row = matrix.get(answer.label) ?? new Map<Column, number>()
    row.set(found, (row.get(found) ?? 0) + 1)
    matrix.set(answer.label, row)
    if (found !== answer.label) errors.push(`${answer.name} is ${answer.label}, taken for ${found}`)
  }
  return { matrix, errors }
}

const print = (title: string, matrix: Matrix): string =>
  [
    `${title}: label (rows) and verdict (columns)`,
    ['', ...columns].map((name) => name.padStart(13)).join(''),
    ...[...matrix].map(([label, row]) =>
      [label, ...columns.map((column) => String(row.get(column) ?? 0))]
        .map((cell) => cell.padStart(13))
        .join(''),
    ),
  ].join('\n')

describe('the labelled answers', () => {
  let answers: LabelledAnswer[] = []
  before(() => {
    answers = createLabelledAnswers(createSynthesizer())
  })

  it('are classified correctly by sound and words, every one', async (test) => {
    const { matrix, errors } = await judgeAll(answers, true)
    test.diagnostic(print('with words', matrix))
    assert.ok(answers.length >= 60, `${answers.length} answers`)
    assert.deepEqual(errors, [])
  })

  it('are classified by sound alone where sound suffices, and no person is hung up on', async (test) => {
    const { matrix, errors } = await judgeAll(answers, false)
    test.diagnostic(print('without words', matrix))
    test.diagnostic(errors.join('\n'))
    const persons = matrix.get('person')
    assert.deepEqual([...(persons?.keys() ?? [])], ['person'])
    for (const label of ['voicemail', 'busy', 'fax'] as const) {
      assert.deepEqual([...(matrix.get(label)?.keys() ?? [])], [label])
    }
  })
})

const silentFrame = new Int16Array(frameSamples)

describe('an answering party', () => {
  const heardLong = () => {
    const classifier = new AnswerClassifier()
    for (let frame = 0; frame < 1_500; frame += 1) {
      assert.equal(classifier.push(silentFrame, frame > 20), undefined)
    }
    return classifier
  }

  /** The verdict on a tone and the silence after it. */
  const soundOf = (classifier: AnswerClassifier, tone: Int16Array) => {
    const samples = joinSamples([tone, silence(500)])
    for (let at = 0; at + frameSamples <= samples.length; at += frameSamples) {
      const verdict = classifier.push(samples.subarray(at, at + frameSamples), false)
      if (verdict) return verdict
    }
    return undefined
  }

  it('is never classified by its rhythm alone', () => {
    assert.equal(heardLong().cadence, 'long')
    const silent = new AnswerClassifier()
    for (let frame = 0; frame < 1_500; frame += 1) {
      assert.equal(silent.push(silentFrame, false), undefined)
    }
    assert.equal(silent.cadence, 'silent')
  })

  it('needs more than a phrase that people use too', () => {
    const classifier = heardLong()
    assert.equal(classifier.heardText('He is not available right now.'), undefined)
    assert.deepEqual(soundOf(classifier, sine(425, 300)), { kind: 'voicemail', by: 'beep' })
    assert.equal(soundOf(heardLong(), sine(1000, 300)), undefined, 'half a minute has passed')
  })

  it('stays a person after a person has talked, whatever is said about voicemail', () => {
    const classifier = new AnswerClassifier()
    classifier.heardText('Yes, this is Ann.')
    classifier.heardText('Tomorrow is fine.')
    assert.equal(classifier.heardText('Else just leave a message after the tone.'), undefined)
    assert.equal(classifier.heardText('This number is not in service on Sundays.'), undefined)
    assert.deepEqual(classifier.engineSaysVoicemail(), { kind: 'voicemail', by: 'tool' })
  })

  it('that screens the call is no voicemail, even if the engine reports one', () => {
    const classifier = new AnswerClassifier()
    assert.deepEqual(classifier.heardText('Please say your name and why you are calling.'), {
      kind: 'screening',
      by: 'words',
    })
    assert.equal(classifier.engineSaysVoicemail(), undefined)
    assert.equal(
      classifier.heardText('They are unavailable. Please leave a message after the tone.')?.kind,
      'voicemail',
    )
  })
})
