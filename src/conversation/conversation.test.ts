import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { decodeG711, encodeG711 } from '../audio/g711.ts'
import { busyTone, joinSamples, silence, sine, specialInformationTone } from '../audio/tones.ts'
import type { TransferResult } from './conversation-types.ts'
import { createConversationBench, type ConversationBench } from './fake-session.ts'

const named = (bench: ConversationBench, name: string): unknown[][] =>
  bench.log.filter(([entry]) => entry === name).map(([, ...args]) => args)

const contactSays = (bench: ConversationBench, text: string, startMs: number): void =>
  bench.emit(
    { type: 'speech_start', atMs: startMs },
    { type: 'speech_stop', atMs: startMs + 500 },
    { type: 'contact_text', text, startMs },
  )

const call = (name: string, args: object = {}, id = 'call_1') =>
  ({ type: 'tool_call', id, name, arguments: args }) as const

describe('the greeting', () => {
  it('is heard within 300 ms of the answer and becomes the first turn', async () => {
    const bench = createConversationBench()
    bench.speak('u1', 'Hello, this is Ann.', 1_000)
    assert.ok((await bench.run(300)) >= 5)
    await bench.run(1_500)
    assert.deepEqual(bench.turns, [
      { sequence: 1, speaker: 'agent', text: 'Hello, this is Ann.', audioOffsetMs: 100 },
    ])
    await bench.finish()
  })

  it('is given up for somebody who goes on speaking', async () => {
    const bench = createConversationBench()
    bench.speak('u1', 'Hello, this is Ann.', 4_000)
    await bench.run(500)
    await bench.run(1_200, true)
    assert.equal(named(bench, 'interrupt').length, 1)
    await bench.finish()
  })

  it('stands a "Hello?" spoken into it: it waits, and goes on', async () => {
    const bench = createConversationBench()
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

  it('is let go with everything it held', async () => {
    const held = await (async () => {
      const bench = createConversationBench()
      bench.speak('u1', 'Hello, this is Ann.', 60_000)
      await bench.run(2_000)
      await bench.finish()
      return new WeakRef(bench.conversation)
    })()
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    // A `WeakRef` keeps its target until the end of the turn it was made in or read in, and one collection may spare it.
    for (let turn = 0; turn < maxCollections && held.deref(); turn += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      collectGarbage()
    }
    assert.equal(held.deref(), undefined)
  })
})

describe('barge-in', () => {
  const speaking = async (): Promise<ConversationBench> => {
    const bench = createConversationBench()
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

  it('is not the agent’s own voice coming back over the line', async () => {
    const bench = await speaking()
    const loudness = Math.abs(decodeG711('pcmu', Uint8Array.of(0x10))[0] ?? 0)
    const echo = new Int16Array(8_000).fill(loudness / 10)
    assert.equal(await bench.play(echo, true), 50)
    assert.equal(await bench.play(new Int16Array(8_000).fill(loudness / 2), true), 2)
    assert.equal(named(bench, 'interrupt').length, 1)
    await bench.finish()
  })

  it('lets the agent go on after a cough', async () => {
    const bench = await speaking()
    await bench.run(120, true)
    assert.equal(await bench.run(160), 0)
    assert.ok((await bench.run(1_000)) > 40)
    assert.deepEqual(named(bench, 'interrupt'), [])
    await bench.finish()
  })

  it('drops a whole answer that comes while the callee is speaking again', async () => {
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
  it('come in the order in which they began, whenever their texts arrive', async () => {
    const bench = createConversationBench()
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

  it('do not wait for ever for words that never come', async () => {
    const bench = createConversationBench()
    bench.emit({ type: 'speech_start', atMs: 0 }, { type: 'speech_stop', atMs: 400 })
    bench.speak('u1', 'Hello.', 400)
    await bench.run(5_000)
    assert.deepEqual(named(bench, 'turn'), [['agent', 'Hello.']])
    await bench.finish()
  })

  it('keep the last words, which arrive after the line is dead', async () => {
    const bench = createConversationBench()
    bench.emit({ type: 'speech_start', atMs: 20 })
    await bench.run(600, true)
    const finished = bench.finish()
    setTimeout(() => bench.emit({ type: 'contact_text', text: 'See you.', startMs: 20 }), 50)
    await finished
    assert.deepEqual(named(bench, 'turn'), [['contact', 'See you.']])
    assert.equal(await bench.finish(), await finished)
  })

  it('cut what the agent was saying when the callee hung up', async () => {
    const bench = createConversationBench()
    bench.speak('u1', 'one two three four five six seven eight nine ten', 2_000)
    await bench.run(1_100)
    await bench.finish()
    assert.match(bench.turns[0]?.text ?? '', /^one two three.*…$/)
  })
})

describe('ending the call', () => {
  it('waits until the goodbye has been heard', async () => {
    const bench = createConversationBench()
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
    const bench = createConversationBench()
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
    const bench = createConversationBench()
    bench.speak('u1', 'Hello.', 400)
    await bench.run(8_400)
    assert.deepEqual(named(bench, 'say'), [])
    await bench.run(400)
    assert.deepEqual(named(bench, 'say'), [['Hello? Are you still there?']])
    bench.speak('u2', 'Hello? Are you still there?', 1_000)
    await bench.run(9_200)
    assert.equal(named(bench, 'say').length, 2)
    await bench.run(8_000)
    assert.deepEqual(named(bench, 'say')[2], ['I will let you go now. Goodbye.'])
    bench.speak('u3', 'I will let you go now. Goodbye.', 1_000)
    await bench.run(1_500)
    assert.deepEqual(named(bench, 'hang_up'), [['callee_silent']])
    await bench.finish()
  })

  it('takes speech for words where the engine never tells any', async () => {
    const bench = createConversationBench()
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

  it('counts the silence anew after words, but not after noise', async () => {
    const bench = createConversationBench()
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

  it('warns before the greatest length, says goodbye, and ends on time whatever the engine does', async () => {
    const bench = createConversationBench({ maxDurationMs: 60_000 })
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
    const bench = createConversationBench()
    bench.emit({ type: 'error', fatal: true, code: 'connection_lost', message: '' })
    await bench.run(20)
    assert.deepEqual(named(bench, 'hang_up'), [['engine_failed']])
    const broken = createConversationBench()
    broken.breakEngine()
    await broken.run(20)
    assert.deepEqual(named(broken, 'hang_up'), [['engine_failed']])
    await Promise.all([bench.finish(), broken.finish()])
  })

  it('happens when the engine stalls in the middle of its words for the third time', async () => {
    const bench = createConversationBench()
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
  it('is told once, whether by the tool or by the words', async () => {
    const bench = createConversationBench()
    contactSays(bench, 'Please never call me again.', 0)
    bench.speak('u1', 'Understood. Goodbye.', 400)
    bench.emit(call('opt_out', {}, 'a'), call('end_call', {}, 'b'))
    await bench.run(1_000)
    assert.equal(named(bench, 'opt_out').length, 1)
    assert.deepEqual(named(bench, 'hang_up'), [['opted_out']])
    assert.equal((await bench.finish()).optedOut, true)
  })

  it('counts even as the last words before the line went dead', async () => {
    const bench = createConversationBench()
    bench.emit({ type: 'speech_start', atMs: 0 })
    await bench.run(400, true)
    const finished = bench.finish()
    bench.emit({ type: 'contact_text', text: 'Take me off your list!', startMs: 0 })
    assert.equal((await finished).optedOut, true)
    assert.equal(named(bench, 'opt_out').length, 1)
  })
})

describe('a voicemail', () => {
  const beep = encodeG711(
    'pcmu',
    Int16Array.from({ length: 160 }, (_, at) => 8_000 * Math.sin((Math.PI * at) / 4)),
  )

  it('told by its words is hung up on, with the agent silent at once', async () => {
    const bench = createConversationBench()
    bench.speak('u1', 'Hello, this is Ann.', 3_000)
    await bench.run(500)
    bench.emit(call('voicemail_detected'))
    assert.equal(await bench.run(200), 0)
    assert.deepEqual(named(bench, 'voicemail'), [[false]])
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    assert.equal((await bench.finish()).voicemail, 'skipped')
  })

  it('gets the message after the beep, then the call ends', async () => {
    const bench = createConversationBench({
      voicemail: 'leave_message',
      voicemailMessage: 'Please call us back.',
    })
    bench.emit(call('voicemail_detected'))
    await bench.run(1_000, true)
    assert.deepEqual(named(bench, 'say'), [])
    for (let tick = 0; tick < 12; tick += 1) bench.conversation.tick(beep)
    assert.deepEqual(named(bench, 'say'), [], 'the message starts after the beep')
    await bench.run(200)
    bench.speak('late', 'I hear you.', 1_000)
    await bench.run(400)
    assert.deepEqual(named(bench, 'say'), [['Please call us back.']])
    assert.deepEqual(named(bench, 'interrupt'), [['late', 0]])
    bench.speak('u2', 'Please call us back.', 1_000)
    assert.equal(await bench.run(1_500, true), 50)
    assert.equal(bench.isEngineHearing, false, 'the engine is not to answer a recorder')
    assert.deepEqual(named(bench, 'voicemail'), [[true]])
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    assert.equal((await bench.finish()).voicemail, 'message_left')
  })

  it('whose beep comes late gets the message again, whole, and never a third time', async () => {
    const bench = createConversationBench({
      voicemail: 'leave_message',
      voicemailMessage: 'Please call us back.',
    })
    bench.emit(call('voicemail_detected'))
    await bench.run(2_100)
    bench.speak('u1', 'Please call us back.', 2_000)
    await bench.run(400)
    await bench.play(sine(1_000, 400))
    await bench.run(700)
    assert.equal(named(bench, 'say').length, 2)
    bench.speak('u2', 'Please call us back.', 2_000)
    await bench.run(500)
    await bench.play(sine(1_000, 400))
    assert.deepEqual(named(bench, 'hang_up'), [])
    await bench.run(2_000)
    assert.equal(named(bench, 'say').length, 2)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    assert.equal((await bench.finish()).voicemail, 'message_left')
    assert.equal(bench.turns.at(-1)?.text, 'Please call us back.')
  })

  it('is told by its words alone, where an engine has no tool for it', async () => {
    const bench = createConversationBench()
    contactSays(bench, 'Please leave a message after the tone.', 0)
    await bench.run(100)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    await bench.finish()
  })

  it('hears a message longer than any goodbye to its end', async () => {
    const bench = createConversationBench({
      voicemail: 'leave_message',
      voicemailMessage: 'A long story.',
    })
    bench.emit(call('voicemail_detected'))
    await bench.run(2_200)
    bench.speak('u1', 'A long story.', 90_000)
    assert.equal(await bench.run(91_000), 4_500)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    await bench.finish()
  })

  it('told by its words but without a beep gets the message after two seconds of silence', async () => {
    const bench = createConversationBench({
      voicemail: 'leave_message',
      voicemailMessage: 'Please call us back.',
    })
    bench.emit(call('voicemail_detected'))
    await bench.run(1_900)
    assert.deepEqual(named(bench, 'say'), [])
    await bench.run(200)
    assert.equal(named(bench, 'say').length, 1)
    assert.equal((await bench.finish()).voicemail, 'skipped')
    assert.deepEqual(named(bench, 'voicemail'), [[false]])
  })

  it('is told by a greeting and a beep, without any word understood', async () => {
    const bench = createConversationBench()
    await bench.run(2_000, true)
    await bench.run(200)
    for (let tick = 0; tick < 25; tick += 1) bench.conversation.tick(beep)
    await bench.run(100)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    await bench.finish()
  })

  it('is not concluded from a tone that nobody spoke before, or one that never ends', async () => {
    const silentBefore = createConversationBench()
    await silentBefore.run(1_000)
    for (let tick = 0; tick < 25; tick += 1) silentBefore.conversation.tick(beep)
    await silentBefore.run(500)
    const endless = createConversationBench()
    await endless.run(2_000, true)
    for (let tick = 0; tick < 250; tick += 1) endless.conversation.tick(beep)
    for (const bench of [silentBefore, endless]) {
      assert.deepEqual(named(bench, 'hang_up'), [])
      assert.equal((await bench.finish()).voicemail, 'none')
    }
  })

  it('is never concluded from a long speech alone', async () => {
    const bench = createConversationBench()
    await bench.run(20_000, true)
    assert.deepEqual(named(bench, 'voicemail'), [])
    assert.equal((await bench.finish()).voicemail, 'none')
  })
})

describe('an assistant that screens the call', () => {
  const prompt =
    'Hi. If you record your name and reason for calling, I will see if this person is available.'

  it('is answered and waited for, even if the engine took it for a voicemail', async () => {
    const bench = createConversationBench()
    bench.emit({ type: 'speech_start', atMs: 0 }, { type: 'speech_stop', atMs: 500 })
    bench.emit(call('voicemail_detected'))
    await bench.run(600)
    assert.deepEqual(named(bench, 'tool_result'), [], 'the words are still to come')
    bench.emit({ type: 'contact_text', text: prompt, startMs: 0 })
    await bench.run(100)
    const [[, result, goOn] = []] = named(bench, 'tool_result')
    assert.equal((result as { voicemail: boolean }).voicemail, false)
    assert.equal(goOn, true)
    bench.speak('u1', 'This is Ann of Riverside Dental, about your appointment.', 2_000)
    await bench.run(30_000)
    assert.deepEqual([named(bench, 'say'), named(bench, 'hang_up')], [[], []])
    await bench.run(11_000)
    assert.equal(named(bench, 'say').length, 1, 'nobody is waited for for ever')
    assert.equal((await bench.finish()).voicemail, 'none')
  })

  it('may still turn out to be a voicemail, whose words are not waited for for ever', async () => {
    const bench = createConversationBench()
    contactSays(bench, prompt, 0)
    await bench.run(1_000)
    bench.emit({ type: 'speech_start', atMs: 900 })
    contactSays(bench, 'They are unavailable. Please leave a message after the tone.', 1_000)
    await bench.run(100)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    const mute = createConversationBench()
    mute.emit({ type: 'speech_start', atMs: 0 }, call('voicemail_detected'))
    await mute.run(1_400)
    assert.deepEqual(named(mute, 'hang_up'), [])
    await mute.run(200)
    assert.deepEqual(named(mute, 'hang_up'), [['voicemail']])
    await Promise.all([bench.finish(), mute.finish()])
  })
})

describe('what answers in nobody’s place', () => {
  for (const [kind, sound] of [
    ['busy', busyTone(4)],
    ['unobtainable', joinSamples([specialInformationTone(), silence(300)])],
    ['fax', sine(2_100, 3_000)],
  ] as const) {
    it(`ends the call: ${kind}`, async () => {
      const bench = createConversationBench()
      bench.speak('u1', 'Hello, this is Ann.', 3_000)
      await bench.play(sound)
      assert.deepEqual(named(bench, 'nobody'), [[kind]])
      assert.deepEqual(named(bench, 'hang_up'), [['nobody_there']])
      await bench.finish()
    })
  }

  it('is no more than a hang-up of the callee, after a conversation', async () => {
    const bench = createConversationBench()
    contactSays(bench, 'Yes, this is Ann.', 0)
    await bench.run(500)
    await bench.play(busyTone(4))
    assert.deepEqual(named(bench, 'nobody'), [])
    assert.deepEqual(named(bench, 'hang_up'), [['callee_gone']])
    await bench.finish()
  })
})

describe('a transfer', () => {
  const setUp = () => {
    const result = Promise.withResolvers<TransferResult>()
    let asked = 0
    const bench = createConversationBench({}, undefined, () => {
      asked += 1
      return result.promise
    })
    return { bench, result, asked: () => asked }
  }

  it('begins when the agent has said so, and then the call ends', async () => {
    const { bench, result, asked } = setUp()
    bench.emit(call('transfer_call', { to: '+19005550100' }))
    bench.speak('u1', 'One moment, I will connect you.', 1_000)
    await bench.run(1_000)
    assert.equal(asked(), 0)
    await bench.run(600)
    assert.equal(asked(), 1)
    await bench.run(100, true)
    assert.equal(bench.isEngineHearing, false, 'the other phone rings; that is nothing to answer')
    await bench.run(40_000)
    assert.deepEqual([named(bench, 'say'), named(bench, 'hang_up')], [[], []])
    bench.emit(call('transfer_call', {}, 'again'))
    await bench.run(20)
    result.resolve({ transferred: true })
    await bench.run(20)
    assert.deepEqual(named(bench, 'hang_up'), [['transferred']])
    assert.deepEqual(named(bench, 'tool_result'), [
      ['again', { error: 'A transfer is under way already.' }, false],
      ['call_1', { transferred: true }, false],
    ])
    assert.equal(asked(), 1)
    await bench.finish()
  })

  it('that is refused is told to the agent, who goes on', async () => {
    const { bench, result } = setUp()
    bench.emit(call('transfer_call'))
    await bench.run(400)
    result.resolve({ transferred: false, reason: 'SIP 486 Busy Here' })
    await bench.run(20, true)
    assert.deepEqual(named(bench, 'tool_result'), [
      ['call_1', { transferred: false, reason: 'SIP 486 Busy Here' }, true],
    ])
    await bench.run(20, true)
    assert.equal(bench.isEngineHearing, true)
    bench.speak('u1', 'I am sorry, nobody is there.', 500)
    assert.equal(await bench.run(1_000), 25)
    assert.deepEqual(named(bench, 'hang_up'), [])
    await bench.finish()
  })

  it('that breaks is refused, and one whose call has ended changes nothing', async () => {
    const { bench, result } = setUp()
    bench.emit(call('transfer_call'))
    await bench.run(400)
    result.reject(new Error('It broke.'))
    await bench.run(20)
    assert.deepEqual(named(bench, 'tool_result'), [
      ['call_1', { transferred: false, reason: 'The transfer failed.' }, true],
    ])
    const late = setUp()
    late.bench.emit(call('transfer_call'))
    await late.bench.run(400)
    await late.bench.finish()
    late.result.resolve({ transferred: true })
    await late.bench.run(20)
    assert.deepEqual(named(late.bench, 'hang_up'), [])
    await bench.finish()
  })

  it('is no tool of an agent that names nobody', async () => {
    const bench = createConversationBench()
    bench.emit(call('transfer_call', { to: '+19005550100' }))
    await bench.run(20)
    assert.deepEqual(named(bench, 'tool_result'), [
      ['call_1', { error: 'There is no such tool.' }, true],
    ])
    await bench.finish()
  })
})

describe('tools', () => {
  it('send digits, and tell the agent which keys the callee pressed', async () => {
    const bench = createConversationBench()
    bench.emit(call('send_dtmf', { digits: '1#' }))
    await bench.run(20)
    assert.deepEqual(named(bench, 'dtmf'), [['1#']])
    bench.conversation.heardDigit('4')
    bench.conversation.heardDigit('2')
    await bench.run(1_600)
    assert.deepEqual(named(bench, 'pressed'), [['42']])
    await bench.finish()
  })

  it('send digits while the agent is silent, and all of them before it hangs up', async () => {
    const bench = createConversationBench()
    bench.speak('u1', 'I press one, two, three. Goodbye.', 1_000)
    await bench.run(300)
    bench.emit(call('send_dtmf', { digits: '123' }, 'a'), call('end_call', {}, 'b'))
    assert.equal(await bench.run(760), 0)
    assert.deepEqual(named(bench, 'hang_up'), [])
    assert.equal(await bench.run(900), 40)
    assert.deepEqual(named(bench, 'hang_up'), [])
    await bench.run(300)
    assert.deepEqual(named(bench, 'hang_up'), [['agent_ended']])
    await bench.finish()
  })

  it('run for the agent, who says so when it takes long, and are given up after eight seconds', async () => {
    const asked: unknown[] = []
    const never = new Promise<unknown>(() => {})
    const bench = createConversationBench({}, (name, args) => {
      asked.push([name, args])
      return name === 'fast' ? Promise.resolve({ free: true }) : never
    })
    bench.emit(call('fast', { day: 2 }, 'a'), call('slow', {}, 'b'))
    await bench.run(600)
    assert.deepEqual(named(bench, 'tool_result'), [['a', { free: true }]])
    await bench.run(200)
    assert.deepEqual(named(bench, 'say'), [['One moment, please.']])
    await bench.run(7_400)
    assert.deepEqual(named(bench, 'tool_result')[1], ['b', { error: 'The tool took too long.' }])
    assert.deepEqual(asked, [
      ['fast', { day: 2 }],
      ['slow', {}],
    ])
    await bench.finish()
  })

  it('that are called without end are not gone on with until the callee has spoken', async () => {
    const bench = createConversationBench({}, () => Promise.resolve({}))
    const callMany = (prefix: string): void => {
      for (let index = 0; index < 21; index += 1) bench.emit(call('send_dtmf', {}, prefix + index))
    }
    callMany('a')
    await bench.run(20)
    const last = named(bench, 'tool_result').at(-1)
    assert.equal(named(bench, 'tool_result').length, 21)
    assert.match(JSON.stringify(last), /a20.*Too many tools.*false/)
    assert.equal(named(bench, 'say').length, 1)
    bench.emit(call('opt_out', {}, 'b'))
    await bench.run(20)
    assert.deepEqual(named(bench, 'opt_out'), [[]])
    contactSays(bench, 'Yes?', 60)
    bench.emit(call('send_dtmf', { digits: '1' }, 'c'))
    await bench.run(20)
    assert.deepEqual(named(bench, 'tool_result').at(-1), ['c', { sent: true }])
    await bench.finish()
  })

  it('that do not exist, or are called wrongly, are answered with an error', async () => {
    const bench = createConversationBench()
    bench.emit(call('fly', {}, 'a'), call('send_dtmf', { digits: 'abc' }, 'b'))
    await bench.run(20)
    assert.deepEqual(named(bench, 'tool_result'), [
      ['a', { error: 'There is no such tool.' }],
      ['b', { error: 'Wrong arguments for send_dtmf.' }],
    ])
    await bench.finish()
  })
})
