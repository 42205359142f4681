import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { decodeG711 } from '../../audio/g711.ts'
import { named } from '../../../tests/support/conversation/bench-events.ts'
import { ConversationBench } from '../../../tests/support/conversation/conversation-bench.ts'

describe('the greeting', () => {
  it('is heard within 300 ms of the answer and becomes the first turn', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Hello, this is Ann.', 1_000)
    assert.ok((await bench.run(300)) >= 5)
    await bench.run(1_500)
    assert.deepEqual(bench.turns, [
      { sequence: 1, speaker: 'agent', text: 'Hello, this is Ann.', audioOffsetMs: 100 },
    ])
    await bench.finish()
  })

  it('is dropped for a callee who keeps speaking', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Hello, this is Ann.', 4_000)
    await bench.run(500)
    await bench.run(1_200, true)
    assert.equal(named(bench, 'interrupt').length, 1)
    await bench.finish()
  })

  it('survives a "Hello?" spoken into it: it pauses and continues', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Hello, this is Ann.', 2_000)
    await bench.run(500)
    assert.equal(await bench.run(400, true), 2)
    assert.ok((await bench.run(3_000)) > 70)
    assert.deepEqual(named(bench, 'interrupt'), [])
    await bench.finish()
  })
})

describe('a finished conversation', () => {
  const maxCollections = 20

  it('releases everything it held', async () => {
    const held = await (async () => {
      const bench = new ConversationBench()
      bench.speak('u1', 'Hello, this is Ann.', 60_000)
      await bench.run(2_000)
      await bench.finish()
      return new WeakRef(bench.conversation)
    })()
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    // A `WeakRef` keeps its target until the end of the turn in which it was made or read, and one
    // collection may spare it.
    for (let turn = 0; turn < maxCollections && held.deref(); turn += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      collectGarbage()
    }
    assert.equal(held.deref(), undefined)
  })
})

describe('barge-in', () => {
  const speaking = async (): Promise<ConversationBench> => {
    const bench = new ConversationBench()
    bench.speak('greeting', 'Hello.', 200)
    await bench.run(500)
    bench.speak('u1', 'one two three four five six seven eight nine ten', 5_000)
    await bench.run(1_000)
    return bench
  }

  it('silences the agent within 60 ms and cuts its turn to what was played', async () => {
    const bench = await speaking()
    const heardFrames = await bench.run(200, true)
    assert.equal(heardFrames, 2)
    await bench.run(400)
    const [[utteranceId, playedMs] = []] = named(bench, 'interrupt')
    assert.equal(utteranceId, 'u1')
    assert.ok(Number(playedMs) > 900 && Number(playedMs) <= 1_060, String(playedMs))
    assert.equal(bench.turns[1]?.text, 'one two…')
    await bench.finish()
  })

  it('is not the agent’s own echo on the line', async () => {
    const bench = await speaking()
    const loudness = Math.abs(decodeG711('pcmu', Uint8Array.of(0x10))[0] ?? 0)
    const echo = new Int16Array(8_000).fill(loudness / 10)
    assert.equal(await bench.play(echo, true), 50)
    assert.equal(await bench.play(new Int16Array(8_000).fill(loudness / 2), true), 2)
    assert.equal(named(bench, 'interrupt').length, 1)
    await bench.finish()
  })

  it('lets the agent continue after a cough', async () => {
    const bench = await speaking()
    await bench.run(120, true)
    assert.equal(await bench.run(160), 0)
    assert.ok((await bench.run(1_000)) > 40)
    assert.deepEqual(named(bench, 'interrupt'), [])
    await bench.finish()
  })

  it('drops a whole reply that arrives while the callee is speaking again', async () => {
    const bench = await speaking()
    await bench.run(6_000)
    await bench.run(200, true)
    bench.speak('u2', 'An answer too late.', 2_000)
    assert.equal(await bench.run(400, true), 0)
    assert.deepEqual(named(bench, 'interrupt'), [['u2', 0]])
    await bench.finish()
    assert.ok(bench.turns.every(({ text }) => text !== 'An answer too late.'))
  })
})

describe('turns', () => {
  it('are delivered in the order in which they began, whenever their texts arrive', async () => {
    const bench = new ConversationBench()
    bench.emit({ type: 'speech_start', atMs: 40 })
    await bench.run(200, true)
    bench.emit({ type: 'speech_stop', atMs: 200 })
    bench.speak('u1', 'Nice to meet you.', 400)
    await bench.run(1_500)
    assert.equal(bench.turns.length, 0)
    bench.emit({ type: 'contact_text', text: 'Hello?', startMs: 40 })
    await bench.run(200)
    assert.deepEqual(
      bench.turns.map(({ sequence, speaker }) => [sequence, speaker]),
      [
        [1, 'contact'],
        [2, 'agent'],
      ],
    )
    assert.equal(bench.turns[0]?.audioOffsetMs, 0)
    await bench.finish()
  })

  it('do not wait forever for missing words', async () => {
    const bench = new ConversationBench()
    bench.emit({ type: 'speech_start', atMs: 0 }, { type: 'speech_stop', atMs: 400 })
    bench.speak('u1', 'Hello.', 400)
    await bench.run(5_000)
    assert.deepEqual(named(bench, 'turn'), [['agent', 'Hello.']])
    await bench.finish()
  })

  it('keep the last words, which arrive after the line is dead', async () => {
    const bench = new ConversationBench()
    bench.emit({ type: 'speech_start', atMs: 20 })
    await bench.run(600, true)
    const finished = bench.finish()
    setImmediate(() => bench.emit({ type: 'contact_text', text: 'See you.', startMs: 20 }))
    await finished
    assert.deepEqual(named(bench, 'turn'), [['contact', 'See you.']])
    assert.equal(await bench.finish(), await finished)
  })

  it('cut the agent’s text where the callee hung up', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'one two three four five six seven eight nine ten', 2_000)
    await bench.run(1_100)
    await bench.finish()
    assert.match(bench.turns[0]?.text ?? '', /^one two three.*…$/)
  })
})
