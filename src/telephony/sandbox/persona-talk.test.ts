import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { frameMs } from '../../audio/frame.ts'
import { pureFrequency } from '../../audio/goertzel.ts'
import { peakOf } from '../../audio/level.ts'
import { createPersonaTalk, turnSilenceMs } from './persona-talk.ts'
import {
  personaFor,
  personaHello,
  personas,
  personaVocabulary,
  type Behaviour,
  type PersonaAnswer,
} from './personas.ts'

/** Each line is a second of its own level, so that the test recognizes the line. */
const loudnessOf = (line: string): number => 1000 + personaVocabulary.indexOf(line)
const speak = (line: string): Int16Array => new Int16Array(8000).fill(loudnessOf(line))

/** Runs the talk against a caller who speaks as `isVoiced` says, and records what was said when. */
const listenTo = (
  behaviour: Behaviour,
  seconds: number,
  isVoiced: (ms: number) => boolean,
  isRinging: (ms: number) => boolean = () => false,
) => {
  const talk = createPersonaTalk(behaviour, speak)
  const said: { line: string; atMs: number }[] = []
  const samples: Int16Array[] = []
  for (let ms = 0; ms < seconds * 1000; ms += frameMs) {
    const frame = talk.tick(isVoiced(ms), isRinging(ms))
    if (frame.hangsUp) return { said, samples, hungUpAtMs: ms }
    samples.push(frame.samples ?? new Int16Array(160))
    const line = personaVocabulary[peakOf(frame.samples ?? new Int16Array(1)) - 1000]
    if (line !== undefined && said.at(-1)?.line !== line) said.push({ line, atMs: ms })
  }
  return { said, samples, hungUpAtMs: undefined }
}

const behaviourOf = (number: string): Behaviour => {
  const answer: PersonaAnswer = personaFor(number).answer
  if (answer.kind === 'answer') return answer.behaviour
  if (answer.kind === 'challenge') return answer.afterwards.behaviour
  throw new Error(`${number} does not answer`)
}

const between = (from: number, to: number) => (ms: number) => ms >= from && ms < to

describe('a persona', () => {
  it('exists for every number of the manual, and any other number is the first', () => {
    const numbers = personas.map(({ number }) => number)
    assert.deepEqual(
      numbers,
      Array.from({ length: 12 }, (_, i) => `+120255501${String(i).padStart(2, '0')}`),
    )
    assert.equal(personaFor('+14155550000'), personas[0])
  })

  it('lets the caller greet, and speaks after a silence', () => {
    const { said } = listenTo(behaviourOf('+12025550100'), 5, between(300, 2300))
    assert.equal(said[0]?.line, 'Hello, this is Sam speaking.')
    assert.ok(Math.abs(said[0].atMs - (2300 + turnSilenceMs)) <= 2 * frameMs, `${said[0].atMs}`)
  })

  it('asks "Hello?" once when the caller is silent, then continues, and hangs up in the end', () => {
    const { said, hungUpAtMs } = listenTo(behaviourOf('+12025550100'), 60, () => false)
    assert.deepEqual(
      said.map(({ line }) => line),
      [personaHello, ...linesOf('+12025550100')],
    )
    assert.ok(hungUpAtMs !== undefined)
  })

  it('does not talk into a pause between sentences', () => {
    const sentences = (ms: number) => between(300, 1300)(ms) || between(1800, 2800)(ms)
    const { said } = listenTo(behaviourOf('+12025550100'), 5, sentences)
    assert.ok(said[0]!.atMs >= 2800 + turnSilenceMs - frameMs, `${said[0]!.atMs}`)
  })

  it('lets the caller speak first after another phone has rung, however late that is', () => {
    const announces = between(300, 2300)
    const apologises = between(5000, 6500)
    const speaks = (ms: number) => announces(ms) || apologises(ms)
    const { said } = listenTo(behaviourOf('+12025550100'), 9, speaks, between(2600, 3200))
    assert.equal(said[0]?.line, 'Hello, this is Sam speaking.')
    assert.ok(said[0].atMs >= 6500 + turnSilenceMs - frameMs, `${said[0].atMs}`)
  })

  it('says all its lines in turn to a caller who replies to each, and waits for the goodbye', () => {
    let quietSince = 0
    let replyUntil = 1500
    const talk = createPersonaTalk(behaviourOf('+12025550100'), speak)
    const spoken = new Set<number>()
    let hungUpAtMs: number | undefined
    for (let ms = 0; ms < 60_000 && hungUpAtMs === undefined; ms += frameMs) {
      const { samples, hangsUp } = talk.tick(ms < replyUntil && ms > quietSince)
      if (samples && peakOf(samples) > 0) {
        spoken.add(peakOf(samples))
        quietSince = ms + 300
        replyUntil = ms + 1300
      }
      if (hangsUp) hungUpAtMs = ms
    }
    assert.deepEqual([...spoken], linesOf('+12025550100').map(loudnessOf))
    assert.ok(Math.abs(hungUpAtMs! - (replyUntil + turnSilenceMs)) <= 3 * frameMs)
  })

  it('of +12025550108 never stops talking', () => {
    const { said, hungUpAtMs } = listenTo(behaviourOf('+12025550108'), 120, () => false)
    assert.equal(hungUpAtMs, undefined)
    assert.ok(said.length >= 40, `${said.length}`)
    assert.equal(new Set(said.map(({ line }) => line)).size, 4)
  })

  it('of +12025550103 speaks at once, beeps once and hangs up after a minute of recording', () => {
    const { said, samples, hungUpAtMs } = listenTo(behaviourOf('+12025550103'), 120, () => true)
    assert.match(said[0]!.line, /voicemail/)
    assert.ok(said[0]!.atMs < 700)
    const isBeep = (frame: Int16Array): boolean => Math.abs((pureFrequency(frame) ?? 0) - 1000) < 25
    const tones = samples.map(isBeep)
    const frames = tones.lastIndexOf(true) - tones.indexOf(true) + 1
    assert.equal(tones.filter((isTone) => isTone).length, frames, 'in one piece')
    assert.ok(frames >= 23 && frames <= 25, `half a second, not ${frames} frames`)
    assert.ok(hungUpAtMs! >= 60_000 && hungUpAtMs! < 65_000)
  })

  it('of +12025550106 says nothing and stays', () => {
    const { said, hungUpAtMs } = listenTo(behaviourOf('+12025550106'), 60, () => true)
    assert.deepEqual([said, hungUpAtMs], [[], undefined])
  })

  it('of +12025550107 hangs up within 200 ms', () => {
    assert.ok(listenTo(behaviourOf('+12025550107'), 1, () => false).hungUpAtMs! < 150)
  })

  it('of +12025550110 asks never to be called again, whatever it hears', () => {
    const { said } = listenTo(behaviourOf('+12025550110'), 20, between(200, 1500))
    assert.match(said[0]!.line, /never call me again/i)
    assert.equal(said.length, 1)
  })
})

const linesOf = (number: string): readonly string[] => {
  const behaviour = behaviourOf(number)
  return behaviour.kind === 'converse' || behaviour.kind === 'talk_on' ? behaviour.lines : []
}
