import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPlayoutQueue, type PlayedUtterance } from './playout-queue.ts'

const createBench = () => {
  const finished: PlayedUtterance[] = []
  return { finished, queue: createPlayoutQueue((utterance) => finished.push(utterance)) }
}

const audio = (ms: number, byte = 1): Uint8Array => new Uint8Array(ms * 8).fill(byte)

describe('the playout queue', () => {
  it('plays utterances in order, frame by frame, and reports the end of each', () => {
    const { queue, finished } = createBench()
    queue.add('a', audio(40, 1))
    queue.add('b', audio(20, 2))
    queue.end('a')
    const played = [queue.next(), queue.next(), queue.next(), queue.next()]
    assert.deepEqual(
      played.map((frame) => frame && [frame.utteranceId, frame.frame.length, frame.frame[0]]),
      [['a', 160, 1], ['a', 160, 1], ['b', 160, 2], undefined],
    )
    assert.deepEqual(finished, [{ utteranceId: 'a', playedMs: 40, producedMs: 40 }])
    assert.equal(queue.isDry, true)
    queue.end('b')
    assert.equal(finished.length, 2)
    assert.equal(queue.isBusy, false)
  })

  it('reports for every dropped utterance how much of it was played', () => {
    const { queue, finished } = createBench()
    queue.add('a', audio(100))
    queue.add('b', audio(60))
    queue.next()
    queue.next()
    assert.deepEqual(queue.clear(), [
      { utteranceId: 'a', playedMs: 40, producedMs: 100 },
      { utteranceId: 'b', playedMs: 0, producedMs: 60 },
    ])
    assert.equal(queue.next(), undefined)
    assert.deepEqual(finished, [])
    assert.deepEqual(queue.clear(), [])
  })

  it('holds at most three minutes', () => {
    const { queue } = createBench()
    assert.equal(queue.add('a', audio(179_000)), true)
    assert.equal(queue.add('a', audio(2_000)), false)
    assert.equal(queue.add('b', audio(1_000)), true)
  })

  it('rewinds to the beginning of the playing utterance, and counts what is played again once', () => {
    const { queue, finished } = createBench()
    queue.add('a', audio(200))
    queue.end('a')
    for (let frame = 0; frame < 5; frame += 1) queue.next()
    queue.rewind()
    queue.rewind()
    let frames = 0
    while (queue.next()) frames += 1
    assert.equal(frames, 10)
    assert.deepEqual(finished, [{ utteranceId: 'a', playedMs: 200, producedMs: 200 }])
  })

  it('rewinds a long utterance to a pause in the last ten seconds played', () => {
    const quiet = 7
    const queue = createPlayoutQueue(
      () => undefined,
      ([first]) => first === quiet,
    )
    queue.add('a', audio(15_000))
    queue.add('a', audio(200, quiet))
    queue.add('a', audio(4_800, 2))
    for (let frame = 0; frame < 900; frame += 1) queue.next()
    queue.rewind()
    const bytes = new Set<number | undefined>()
    let frames = 0
    for (let next = queue.next(); next; next = queue.next()) {
      bytes.add(next.frame[0])
      frames += 1
    }
    assert.deepEqual([frames, [...bytes]], [245, [quiet, 2]])
  })

  it('has nothing to rewind between utterances', () => {
    const { queue } = createBench()
    queue.rewind()
    queue.add('a', audio(20))
    queue.end('a')
    queue.next()
    queue.rewind()
    assert.equal(queue.next(), undefined)
  })
})
