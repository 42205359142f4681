import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Turn } from './conversation-types.ts'
import { TurnLog } from './turn-log.ts'

const createBench = (heardAt?: (engineMs: number) => number) => {
  const turns: Turn[] = []
  return { turns, log: new TurnLog((turn) => turns.push(turn), heardAt) }
}

describe('the turn log', () => {
  it('dates an agent by the first voiced frame and a contact by the loop’s own detection', () => {
    const { log, turns } = createBench((engineMs) => engineMs + 30)
    log.agentPlayed('a', 100, false)
    log.agentPlayed('a', 120, true)
    log.agentPlayed('a', 140, true)
    log.agentText('a', 'Hello.')
    log.agentOver('a', 500, 500)
    log.contactStarted(800)
    log.contactText(800, 'Hi.')
    log.flush(1_000)
    assert.deepEqual(
      turns.map(({ audioOffsetMs }) => audioOffsetMs),
      [120, 830],
    )
    assert.equal(log.isSettled, true)
  })

  it('accepts a text that comes before the first frame, or after the last', () => {
    const { log, turns } = createBench()
    log.agentText('a', 'Early.')
    log.agentPlayed('a', 0, true)
    log.agentOver('a', 100, 100)
    log.agentPlayed('b', 200, true)
    log.agentOver('b', 100, 100)
    log.flush(400)
    assert.equal(log.isSettled, false)
    log.agentText('b', 'Late.')
    log.flush(500)
    assert.deepEqual(
      turns.map(({ text }) => text),
      ['Early.', 'Late.'],
    )
  })

  it('has the agent’s words as far as they were played, until the turn is delivered', () => {
    const { log, turns } = createBench()
    const wordsAt = (playedMs: number) =>
      log.agentWords({ utteranceId: 'a', playedMs, producedMs: 1_000 })?.text
    log.agentPlayed('a', 40, true)
    assert.equal(wordsAt(400), undefined)
    log.agentText('a', 'One two, three four.')
    assert.equal(wordsAt(100), undefined)
    assert.equal(wordsAt(500), 'One two…')
    assert.equal(wordsAt(1_000), 'One two, three four.')
    log.agentOver('a', 700, 1_000)
    assert.deepEqual(log.agentWords(undefined), { text: 'One two, three…', audioOffsetMs: 40 })
    log.flush(1_000)
    assert.equal(log.agentWords(undefined), undefined)
    assert.deepEqual(
      turns.map(({ text }) => text),
      ['One two, three…'],
    )
  })

  for (const [playedMs, text] of [
    [0, undefined],
    [100, undefined],
    [400, 'One two…'],
    [500, 'One two…'],
    [700, 'One two, three…'],
    [980, 'One two, three four.'],
  ] as const) {
    it(`shows ${text ?? 'nothing'} of a turn cut after ${playedMs} of 1000 ms`, () => {
      const { log, turns } = createBench()
      log.agentPlayed('a', 0, true)
      log.agentText('a', 'One two, three four.')
      log.agentOver('a', playedMs, 1_000)
      log.end()
      assert.equal(turns[0]?.text, text)
    })
  }

  it('delivers at the end what has a text, and drops what has none', () => {
    const { log, turns } = createBench()
    log.contactStarted(0)
    log.agentPlayed('a', 100, true)
    log.agentText('a', 'Hello.')
    log.agentOver('a', 300, 300)
    log.contactStarted(900)
    log.contactText(900, '')
    log.end()
    assert.deepEqual(turns, [{ sequence: 1, speaker: 'agent', text: 'Hello.', audioOffsetMs: 100 }])
  })

  it('stays bounded when many speeches never get their words', () => {
    const { log, turns } = createBench()
    for (let count = 0; count < 1_000; count += 1) log.contactStarted(count)
    log.contactText(5_000, 'At last.')
    log.flush(1_000)
    log.flush(61_001)
    assert.deepEqual(
      turns.map(({ text }) => text),
      ['At last.'],
    )
  })
})
