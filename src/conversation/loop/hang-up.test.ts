import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, contactSays, named } from '../../../tests/support/conversation/bench-events.ts'
import { ConversationBench } from '../../../tests/support/conversation/conversation-bench.ts'

describe('ending the call', () => {
  it('waits until the goodbye has been heard', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Thank you. Goodbye.', 1_000)
    bench.emit(call('end_call', { outcome: 'achieved' }))
    await bench.run(1_000)
    assert.deepEqual(named(bench, 'hang_up'), [])
    await bench.run(500)
    assert.deepEqual(named(bench, 'hang_up'), [['agent_ended']])
    assert.deepEqual(named(bench, 'tool_result'), [['call_1', { ended: true }, false]])
    const facts = await bench.finish()
    assert.equal(facts.reportedOutcome, 'achieved')
    assert.equal(facts.hangUpReason, 'agent_ended')
    assert.deepEqual(named(bench, 'turn'), [['agent', 'Thank you. Goodbye.']])
  })

  it('is not stopped by a callee who says goodbye too, nor by more from the engine', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Goodbye.', 1_000)
    bench.emit(call('end_call'))
    await bench.run(400)
    assert.ok((await bench.run(400, true)) >= 19)
    bench.speak('u2', 'And another thing.', 1_000)
    await bench.run(1_000)
    assert.deepEqual(named(bench, 'interrupt'), [['u2', 0]])
    assert.deepEqual(named(bench, 'hang_up'), [['agent_ended']])
    await bench.finish()
  })

  it('asks a silent callee twice and then says goodbye', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Hello.', 400)
    await bench.run(8_400)
    assert.deepEqual(named(bench, 'say'), [])
    await bench.run(400)
    assert.deepEqual(named(bench, 'say'), [['Hello? Are you still there?']])
    bench.speak('u2', 'Hello? Are you still there?', 1_000)
    await bench.run(9_200)
    assert.equal(named(bench, 'say').length, 2)
    bench.speak('u3', 'Hello? Are you still there?', 1_000)
    await bench.run(9_000)
    assert.deepEqual(named(bench, 'say')[2], ['I will let you go now. Goodbye.'])
    bench.speak('u4', 'I will let you go now. Goodbye.', 1_000)
    await bench.run(1_500)
    assert.deepEqual(named(bench, 'hang_up'), [['callee_silent']])
    await bench.finish()
  })

  it('blames the engine, not the callee, when a requested prompt is never spoken', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Hello.', 400)
    await bench.run(24_000)
    assert.equal(named(bench, 'say').length, 2)
    assert.deepEqual(named(bench, 'hang_up'), [])
    await bench.run(1_000)
    assert.deepEqual(named(bench, 'hang_up'), [['engine_failed']])
    assert.equal(named(bench, 'say').length, 2)
    await bench.finish()
  })

  it('takes speech for words when the engine never reports words', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Hello.', 400)
    for (const atMs of [2_000, 9_000, 16_000]) {
      bench.emit({ type: 'speech_start', atMs }, { type: 'speech_stop', atMs: atMs + 500 })
      bench.speak(`answer ${atMs}`, 'I see.', 400)
      await bench.run(7_000)
    }
    assert.deepEqual(named(bench, 'say'), [])
    await bench.finish()
    assert.deepEqual(
      bench.turns.filter(({ speaker }) => speaker === 'contact').map(({ text }) => text),
      ['[unrecognised]', '[unrecognised]', '[unrecognised]'],
    )
  })

  it('restarts the silence count after words, but not after noise', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Hello.', 400)
    await bench.run(7_000)
    contactSays(bench, '[unrecognised]', 6_500)
    await bench.run(2_000)
    assert.equal(named(bench, 'say').length, 1)
    contactSays(bench, 'Yes?', 8_500)
    await bench.run(7_500)
    assert.equal(named(bench, 'say').length, 1)
    await bench.run(1_000)
    assert.equal(named(bench, 'say').length, 2)
    await bench.finish()
  })

  it('warns before the duration cap, says goodbye, and ends on time whatever the engine does', async () => {
    const bench = new ConversationBench({ maxDurationMs: 60_000 })
    for (let second = 0; second < 60; second += 2) {
      contactSays(bench, `Sentence ${second}.`, second * 1_000)
      await bench.run(2_000)
    }
    assert.deepEqual(named(bench, 'say'), [
      ['I am sorry, but I have to finish in a moment.'],
      ['I will let you go now. Goodbye.'],
    ])
    assert.deepEqual(named(bench, 'hang_up'), [['duration_cap']])
    await bench.finish()
  })

  it('happens at once when the engine breaks', async () => {
    const bench = new ConversationBench()
    bench.emit({ type: 'error', fatal: true, code: 'connection_lost', message: '' })
    await bench.run(20)
    assert.deepEqual(named(bench, 'hang_up'), [['engine_failed']])
    const broken = new ConversationBench()
    broken.breakEngine()
    await broken.run(20)
    assert.deepEqual(named(broken, 'hang_up'), [['engine_failed']])
    await Promise.all([bench.finish(), broken.finish()])
  })

  it('happens when the engine stalls in the middle of its words for the third time', async () => {
    const bench = new ConversationBench()
    for (const utteranceId of ['u1', 'u2', 'u3']) {
      const g711 = new Uint8Array(1_600).fill(0x10)
      bench.emit({ type: 'audio', utteranceId, g711 })
      await bench.run(1_900)
    }
    assert.deepEqual(named(bench, 'interrupt'), [
      ['u1', 200],
      ['u2', 200],
    ])
    assert.deepEqual(named(bench, 'hang_up'), [['engine_failed']])
    await bench.finish()
  })
})

describe('an opt-out', () => {
  it('is reported once, whether by the tool or by the words', async () => {
    const bench = new ConversationBench()
    contactSays(bench, 'Please never call me again.', 0)
    bench.speak('u1', 'Understood. Goodbye.', 400)
    bench.emit(call('opt_out', {}, 'a'), call('end_call', {}, 'b'))
    await bench.run(1_000)
    assert.equal(named(bench, 'opt_out').length, 1)
    assert.deepEqual(named(bench, 'hang_up'), [['opted_out']])
    assert.equal((await bench.finish()).optedOut, true)
  })

  it('counts even as the last words before the line went dead', async () => {
    const bench = new ConversationBench()
    bench.emit({ type: 'speech_start', atMs: 0 })
    await bench.run(400, true)
    const finished = bench.finish()
    bench.emit({ type: 'contact_text', text: 'Take me off your list!', startMs: 0 })
    assert.equal((await finished).optedOut, true)
    assert.equal(named(bench, 'opt_out').length, 1)
  })
})
