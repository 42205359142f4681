import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeG711 } from '../../audio/g711.ts'
import { sine } from '../../audio/tones.ts'
import { call, contactSays, named } from '../../../tests/support/conversation/bench-events.ts'
import { ConversationBench } from '../../../tests/support/conversation/conversation-bench.ts'

describe('a voicemail', () => {
  const beep = encodeG711(
    'pcmu',
    Int16Array.from({ length: 160 }, (_, at) => 8_000 * Math.sin((Math.PI * at) / 4)),
  )

  it('recognized by its words ends the call, with the agent silent at once', async () => {
    const bench = new ConversationBench()
    bench.speak('u1', 'Hello, this is Ann.', 3_000)
    await bench.run(500)
    bench.emit(call('voicemail_detected'))
    assert.equal(await bench.run(200), 0)
    assert.deepEqual(named(bench, 'voicemail'), [[false]])
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    assert.equal((await bench.finish()).voicemail, 'skipped')
  })

  it('gets the message after the beep, then the call ends', async () => {
    const bench = new ConversationBench({
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

  it('gets the message too where the engine first replies to the greeting, too late to be stopped', async () => {
    const bench = new ConversationBench({
      voicemail: 'leave_message',
      voicemailMessage: 'Please call us back at your convenience.',
    })
    bench.emit(call('voicemail_detected'))
    await bench.run(2_100)
    bench.speak('late', 'Sorry, I did not catch that. Could you say it again, please?', 1_000)
    await bench.run(2_500)
    assert.deepEqual(named(bench, 'hang_up'), [], 'it waits for the message')
    bench.speak('u2', 'Please call us back at your convenience.', 1_000)
    await bench.run(1_500)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    assert.equal((await bench.finish()).voicemail, 'message_left')
  })

  it('counts as skipped where other words came and the message never did', async () => {
    const bench = new ConversationBench({
      voicemail: 'leave_message',
      voicemailMessage: 'Please call us back at your convenience.',
    })
    bench.emit(call('voicemail_detected'))
    await bench.run(2_100)
    bench.speak('late', 'Sorry, I did not catch that.', 1_000)
    await bench.run(6_500)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    assert.equal((await bench.finish()).voicemail, 'skipped')
  })

  it('with a late beep gets the whole message again, and never a third time', async () => {
    const bench = new ConversationBench({
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

  it('is recognized by its words alone if the engine has no tool for it', async () => {
    const bench = new ConversationBench()
    contactSays(bench, 'Please leave a message after the tone.', 0)
    await bench.run(100)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    await bench.finish()
  })

  it('hears a message longer than any goodbye to its end', async () => {
    const bench = new ConversationBench({
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

  it('recognized by its words but without a beep gets the message after two seconds of silence', async () => {
    const bench = new ConversationBench({
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

  it('is recognized by a greeting and a beep, without any understood word', async () => {
    const bench = new ConversationBench()
    await bench.run(2_000, true)
    await bench.run(200)
    for (let tick = 0; tick < 25; tick += 1) bench.conversation.tick(beep)
    await bench.run(100)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    await bench.finish()
  })

  it('is not inferred from a tone without speech before it, or from an endless tone', async () => {
    const silentBefore = new ConversationBench()
    await silentBefore.run(1_000)
    for (let tick = 0; tick < 25; tick += 1) silentBefore.conversation.tick(beep)
    await silentBefore.run(500)
    const endless = new ConversationBench()
    await endless.run(2_000, true)
    for (let tick = 0; tick < 250; tick += 1) endless.conversation.tick(beep)
    for (const bench of [silentBefore, endless]) {
      assert.deepEqual(named(bench, 'hang_up'), [])
      assert.equal((await bench.finish()).voicemail, 'none')
    }
  })

  it('is never inferred from long speech alone', async () => {
    const bench = new ConversationBench()
    await bench.run(20_000, true)
    assert.deepEqual(named(bench, 'voicemail'), [])
    assert.equal((await bench.finish()).voicemail, 'none')
  })
})
