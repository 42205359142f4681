import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InterruptionJudge, type InterruptionVerdict } from './interruption-judge.ts'

interface Sound {
  readonly isSpeech?: boolean
  readonly isHum?: boolean
  readonly isNear?: boolean
}

const commitMs = 1_000

/** Plays a sound, and what the judge said when, in milliseconds since the first frame. */
const createBench = () => {
  const judge = new InterruptionJudge()
  const verdicts: [InterruptionVerdict, number][] = []
  let nowMs = 0
  const play = (
    ms: number,
    isVoiced: boolean,
    sound: Sound = {},
    limit: number | undefined = commitMs,
  ) => {
    const { isSpeech = true, isHum = false, isNear = true } = sound
    const likeness = { voicedMs: 400, isSpeech, isHum, restart: () => {} }
    for (let frame = 0; frame < ms / 20; frame += 1) {
      nowMs += 20
      const verdict = judge.push({ isVoiced, isNear, isLoud: false, likeness }, true, limit)
      if (verdict) verdicts.push([verdict, nowMs])
    }
  }
  return { judge, verdicts, play }
}

describe('the judge of interruptions', () => {
  it('pauses after 60 ms of voice and yields to a person who speaks on', () => {
    const { verdicts, play } = createBench()
    play(1_200, true)
    assert.deepEqual(verdicts.slice(0, 2), [
      ['pause', 60],
      ['yield', 1_000],
    ])
  })

  it('yields at once when words are known', () => {
    const { judge, verdicts, play } = createBench()
    play(300, true)
    judge.words('speech')
    play(20, true)
    assert.deepEqual(verdicts.at(-1), ['yield', 320])
  })

  it('goes on after a backchannel, however long it is', () => {
    const { judge, verdicts, play } = createBench()
    play(900, true)
    judge.words('backchannel')
    play(300, false)
    assert.deepEqual(verdicts, [
      ['pause', 60],
      ['resume', 1_000],
    ])
  })

  it('goes on soon after a noise, and over one that does not end', () => {
    const short = createBench()
    short.play(500, true, { isSpeech: false })
    short.play(400, false, { isSpeech: false })
    assert.deepEqual(short.verdicts.at(-1), ['resume', 660])
    const long = createBench()
    long.play(5_000, true, { isSpeech: false })
    assert.deepEqual(long.verdicts, [
      ['pause', 60],
      ['resume', 640],
    ])
  })

  it('lets a voice in the background speak', () => {
    const { verdicts, play } = createBench()
    play(5_000, true, { isNear: false })
    assert.deepEqual(
      verdicts.map(([verdict]) => verdict),
      ['pause', 'resume'],
    )
  })

  it('is interrupted over a noise that goes on', () => {
    const { verdicts, play } = createBench()
    play(1_000, true, { isSpeech: false })
    play(2_000, true)
    assert.deepEqual(
      verdicts.slice(0, 4).map(([verdict]) => verdict),
      ['pause', 'resume', 'pause', 'yield'],
    )
  })

  it('never waits longer than 1.2 seconds for words that do not come', () => {
    for (const ms of [120, 300, 600, 900]) {
      const { verdicts, play } = createBench()
      play(ms, true, { isHum: true })
      play(2_000, false)
      const [pause, resume] = verdicts
      assert.deepEqual([pause?.[0], resume?.[0]], ['pause', 'resume'])
      assert.ok(resume![1] - pause![1] <= 1_200, `${ms}: ${resume![1] - pause![1]}`)
    }
  })

  it('knows no interruption where nothing interrupts', () => {
    const { verdicts, play } = createBench()
    play(2_000, true, {}, 0)
    const none = createBench()
    for (let frame = 0; frame < 100; frame += 1)
      none.judge.push(
        {
          isVoiced: true,
          isNear: true,
          isLoud: true,
          likeness: { voicedMs: 400, isSpeech: true, isHum: false, restart: () => {} },
        },
        true,
        undefined,
      )
    assert.equal(none.judge.isPaused, false)
    assert.ok(verdicts.length > 0)
  })
})
