import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, contactSays, named } from '../../../tests/support/conversation/bench-events.ts'
import { ConversationBench } from '../../../tests/support/conversation/conversation-bench.ts'
import { CallPhase, held, phases, type PhaseName } from './phases.ts'

const twoMinutesMs = 120_000

/** A greeted callee, and an agent in the middle of a reply of five seconds. */
const speaking = async (): Promise<ConversationBench> => {
  const bench = new ConversationBench()
  bench.speak('greeting', 'Hello.', 200)
  await bench.run(500)
  bench.speak('u1', 'one two three four five six seven eight nine ten', 5_000)
  await bench.run(2_000)
  return bench
}

describe('a callee who holds the line', () => {
  it('is told nothing, prompted by nothing and heard by no engine for two minutes', async () => {
    const bench = await speaking()
    bench.conversation.hold(true)
    assert.equal(await bench.run(twoMinutesMs / 2, true), 0)
    assert.equal(bench.isEngineHearing, false)
    assert.equal(await bench.run(twoMinutesMs / 2), 0)
    assert.deepEqual(named(bench, 'say'), [])
    assert.deepEqual(named(bench, 'hang_up'), [])
    assert.deepEqual(named(bench, 'interrupt'), [])
    assert.deepEqual(
      bench.turns.map(({ text }) => text),
      ['Hello.'],
    )
    await bench.finish()
  })

  it('hears the utterance that was cut from its beginning', async () => {
    const bench = await speaking()
    bench.conversation.hold(true)
    await bench.run(twoMinutesMs)
    bench.conversation.hold(false)
    assert.equal(await bench.run(400), 0)
    assert.equal(await bench.run(5_000), 250)
    assert.equal(await bench.run(1_000), 0)
    assert.equal(bench.turns.at(-1)?.text, 'one two three four five six seven eight nine ten')
    await bench.finish()
  })

  it('hears what came meanwhile after the resume, once', async () => {
    const bench = new ConversationBench()
    bench.speak('greeting', 'Hello.', 200)
    await bench.run(1_000)
    bench.conversation.hold(true)
    bench.conversation.hold(true)
    contactSays(bench, 'Can you wait?', 900)
    bench.speak('u1', 'Of course.', 1_000)
    assert.equal(await bench.run(10_000), 0)
    bench.conversation.hold(false)
    assert.equal(await bench.run(3_000), 50)
    await bench.finish()
  })

  it('hears of a cut turn only the part that was played, when the call ends', async () => {
    const bench = await speaking()
    bench.conversation.hold(true)
    await bench.run(1_000)
    await bench.finish()
    assert.match(bench.turns.at(-1)?.text ?? '', /^one two three.*…$/)
  })

  it('may hold twice, and is prompted only after eight silent seconds of its own line', async () => {
    const bench = new ConversationBench()
    bench.speak('greeting', 'Hello.', 200)
    await bench.run(5_000)
    for (let times = 0; times < 2; times += 1) {
      bench.conversation.hold(true)
      await bench.run(60_000)
      bench.conversation.hold(false)
      await bench.run(7_000)
      assert.deepEqual(named(bench, 'say'), [])
    }
    await bench.run(2_000)
    assert.equal(named(bench, 'say').length, 1)
    await bench.finish()
  })

  it('hears the whole greeting that it cut', async () => {
    const bench = new ConversationBench()
    bench.speak('greeting', 'Hello, this is Ann.', 2_000)
    await bench.run(1_000)
    bench.conversation.hold(true)
    await bench.run(twoMinutesMs)
    bench.conversation.hold(false)
    assert.equal(await bench.run(4_000), 100)
    assert.deepEqual(
      bench.turns.map(({ text }) => text),
      ['Hello, this is Ann.'],
    )
    await bench.finish()
  })

  it('hears the goodbye that it cut, and only then the call ends', async () => {
    const bench = await speaking()
    bench.emit(call('end_call', { outcome: 'achieved' }))
    await bench.run(100)
    bench.conversation.hold(true)
    await bench.run(twoMinutesMs)
    assert.deepEqual(named(bench, 'hang_up'), [])
    bench.conversation.hold(false)
    await bench.run(5_000)
    assert.deepEqual(named(bench, 'hang_up'), [])
    await bench.run(1_000)
    assert.deepEqual(named(bench, 'hang_up'), [['agent_ended']])
    await bench.finish()
  })

  it('does not keep a call whose goodbye was heard', async () => {
    const bench = new ConversationBench()
    bench.speak('greeting', 'Hello.', 200)
    await bench.run(1_000)
    bench.emit(call('end_call', { outcome: 'achieved' }))
    bench.conversation.hold(true)
    await bench.run(1_000)
    assert.deepEqual(named(bench, 'hang_up'), [['agent_ended']])
    await bench.finish()
  })

  it('may be held by the carrier that transfers it', async () => {
    const transfer = Promise.withResolvers<{ readonly transferred: true }>()
    const bench = new ConversationBench({}, undefined, () => transfer.promise)
    bench.speak('greeting', 'Hello.', 200)
    await bench.run(1_000)
    bench.emit(call('transfer_call'))
    await bench.run(1_000)
    bench.conversation.hold(true)
    await bench.run(30_000)
    transfer.resolve({ transferred: true })
    await bench.run(100)
    assert.deepEqual(named(bench, 'hang_up'), [['transferred']])
    await bench.finish()
  })

  it('is ended at the cap of the call, and by an engine that fails', async () => {
    const capped = new ConversationBench({ maxDurationMs: 60_000 })
    capped.conversation.hold(true)
    await capped.run(60_100)
    assert.deepEqual(named(capped, 'hang_up'), [['duration_cap']])
    await capped.finish()
    const broken = await speaking()
    broken.conversation.hold(true)
    broken.breakEngine()
    await broken.run(100)
    assert.deepEqual(named(broken, 'hang_up'), [['engine_failed']])
    await broken.finish()
  })

  it('presses no keys of ours', async () => {
    const bench = new ConversationBench()
    await bench.run(500)
    bench.conversation.hold(true)
    bench.conversation.heardDigit('5')
    bench.conversation.hold(false)
    await bench.run(3_000)
    assert.deepEqual(named(bench, 'pressed'), [])
    await bench.finish()
  })
})

describe('the rules of a hold', () => {
  const reach: Readonly<Record<PhaseName, readonly PhaseName[]>> = {
    greeting: [],
    talking: ['talking'],
    screened: ['screened'],
    voicemail: ['voicemail'],
    transferring: ['transferring'],
    goodbye: ['goodbye'],
    over: ['over'],
  }

  for (const [name, steps] of Object.entries(reach) as [PhaseName, readonly PhaseName[]][]) {
    it(`replace those of ${name}${name === 'over' ? ' no more' : ', and end with the hold'}`, () => {
      const phase = new CallPhase()
      for (const step of steps) phase.enter(step)
      const isNews = phase.hold(true)
      assert.equal(isNews, name !== 'over')
      assert.deepEqual(phase.rules, name === 'over' ? phases.over : { ...phases[name], ...held })
      phase.hold(false)
      assert.deepEqual(phase.rules, phases[name])
    })
  }

  it('stay while the phase changes', () => {
    const phase = new CallPhase()
    phase.hold(true)
    phase.greeted()
    assert.equal(phase.name, 'talking')
    assert.equal(phase.rules.engineHears, 'silence')
    phase.enter('over')
    assert.equal(phase.isHeld, false)
  })
})
