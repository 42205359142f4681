import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSynthesizer } from '../../audio/flite.ts'
import { named } from '../../../tests/support/conversation/bench-events.ts'
import { ConversationBench } from '../../../tests/support/conversation/conversation-bench.ts'

const synthesizer = createSynthesizer()
const clip = (text: string): Int16Array => synthesizer.synthesize(text, 'kal').samples

const createBench = (): ConversationBench => new ConversationBench({}, undefined, undefined, true)

/** Past its greeting, and in the middle of an utterance. */
const speaking = async (): Promise<ConversationBench> => {
  const bench = createBench()
  bench.speak('greeting', 'Hello.', 200)
  await bench.run(1_000)
  bench.speak('u1', 'one two three four five six seven eight nine ten', 8_000)
  await bench.run(1_000)
  return bench
}

/** The callee speaks, and the engine reports the words after a silence. */
const says = async (bench: ConversationBench, text: string, startMs: number): Promise<void> => {
  bench.emit({ type: 'speech_start', atMs: startMs })
  await bench.play(clip(text), true)
  await bench.run(300)
  bench.emit({ type: 'speech_stop', atMs: startMs + 500 }, { type: 'contact_text', text, startMs })
}

describe('turns that the loop owns', () => {
  it('a backchannel pauses the agent, which goes on; no reply is asked for', async () => {
    const bench = await speaking()
    await says(bench, 'Okay.', 2_000)
    assert.ok((await bench.run(3_000)) > 100)
    assert.deepEqual([named(bench, 'interrupt'), named(bench, 'reply')], [[], []])
    await bench.finish()
    assert.ok(bench.turns.some(({ text }) => text === 'Okay.'))
  })

  it('words interrupt the agent, and one reply follows', async () => {
    const bench = await speaking()
    await says(bench, 'No, I have a question.', 2_000)
    assert.equal(await bench.run(2_000), 0)
    assert.equal(named(bench, 'interrupt').length, 1)
    assert.equal(named(bench, 'reply').length, 1)
    await bench.finish()
  })

  it('a sound without words is no turn, and nothing follows it but speech', async () => {
    const bench = await speaking()
    bench.emit({ type: 'speech_start', atMs: 2_000 })
    await bench.run(200, true)
    bench.emit(
      { type: 'speech_stop', atMs: 2_200 },
      { type: 'contact_text', text: '', startMs: 2_000 },
    )
    assert.ok((await bench.run(2_000)) > 60)
    assert.deepEqual([named(bench, 'interrupt'), named(bench, 'reply')], [[], []])
    assert.deepEqual(named(bench, 'dismiss'), [[2_000]])
    await bench.finish()
  })

  it('a "Hello?" into the greeting is no turn', async () => {
    const bench = createBench()
    bench.speak('greeting', 'Hello, this is Ann of Riverside Dental.', 3_000)
    await bench.run(300)
    await says(bench, 'Hello?', 300)
    await bench.run(5_000)
    assert.deepEqual([named(bench, 'interrupt'), named(bench, 'reply')], [[], []])
    await bench.finish()
    assert.deepEqual(
      bench.turns.map(({ speaker }) => speaker),
      ['agent'],
    )
  })

  it('a number in groups is one turn with one reply', async () => {
    const bench = createBench()
    bench.speak('greeting', 'What is your number?', 400)
    await bench.run(2_000)
    await says(bench, 'My number is five five five', 2_000)
    await bench.run(300)
    await says(bench, 'one two three', 4_500)
    await bench.run(300)
    await says(bench, 'four five six seven', 6_500)
    await bench.run(3_000)
    assert.equal(named(bench, 'reply').length, 1)
    await bench.finish()
    const said = bench.turns.filter(({ speaker }) => speaker === 'contact')
    assert.deepEqual(
      said.map(({ text }) => text),
      ['My number is five five five one two three four five six seven'],
    )
  })
})
