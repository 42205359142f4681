import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { busyTone, joinSamples, silence, sine, specialInformationTone } from '../../audio/tones.ts'
import { call, contactSays, named } from '../../../tests/support/conversation/bench-events.ts'
import { ConversationBench } from '../../../tests/support/conversation/conversation-bench.ts'

describe('an assistant that screens the call', () => {
  const prompt =
    'Hi. If you record your name and reason for calling, I will see if this person is available.'

  it('is answered and waited for, even if the engine reports a voicemail', async () => {
    const bench = new ConversationBench()
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

  it('may still turn out to be a voicemail, and the wait for its words is limited', async () => {
    const bench = new ConversationBench()
    contactSays(bench, prompt, 0)
    await bench.run(1_000)
    bench.emit({ type: 'speech_start', atMs: 900 })
    contactSays(bench, 'They are unavailable. Please leave a message after the tone.', 1_000)
    await bench.run(100)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    const mute = new ConversationBench()
    mute.emit({ type: 'speech_start', atMs: 0 }, call('voicemail_detected'))
    await mute.run(1_400)
    assert.deepEqual(named(mute, 'hang_up'), [])
    await mute.run(200)
    assert.deepEqual(named(mute, 'hang_up'), [['voicemail']])
    await Promise.all([bench.finish(), mute.finish()])
  })
})

describe('a machine that answers instead of a person', () => {
  for (const [kind, sound] of [
    ['busy', busyTone(4)],
    ['unobtainable', joinSamples([specialInformationTone(), silence(300)])],
    ['fax', sine(2_100, 3_000)],
  ] as const) {
    it(`ends the call: ${kind}`, async () => {
      const bench = new ConversationBench()
      bench.speak('u1', 'Hello, this is Ann.', 3_000)
      await bench.play(sound)
      assert.deepEqual(named(bench, 'nobody'), [[kind]])
      assert.deepEqual(named(bench, 'hang_up'), [['nobody_there']])
      await bench.finish()
    })
  }

  it('counts as a hang-up of the callee after a conversation', async () => {
    const bench = new ConversationBench()
    contactSays(bench, 'Yes, this is Ann.', 0)
    await bench.run(500)
    await bench.play(busyTone(4))
    assert.deepEqual(named(bench, 'nobody'), [])
    assert.deepEqual(named(bench, 'hang_up'), [['callee_gone']])
    await bench.finish()
  })
})
