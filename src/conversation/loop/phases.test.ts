import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, contactSays, named } from '../../../tests/support/conversation/bench-events.ts'
import { ConversationBench } from '../../../tests/support/conversation/conversation-bench.ts'
import { CallPhase, phases, type PhaseName } from './phases.ts'

const names = Object.keys(phases) as PhaseName[]

/** A call that reached this phase by the given steps. */
const after = (...steps: PhaseName[]): CallPhase => {
  const phase = new CallPhase()
  for (const step of steps) assert.ok(phase.enter(step), step)
  return phase
}

describe('the phases of a call', () => {
  it('all lead to the end, and nothing leads back from it', () => {
    for (const name of names.filter((each) => each !== 'over')) {
      assert.ok(phases[name].next.includes('over'), name)
    }
    const phase = after('over')
    for (const name of names) assert.equal(phase.enter(name), false)
    assert.equal(phase.name, 'over')
  })

  it('lead only to the end after a machine answered', () => {
    const phase = after('talking', 'voicemail')
    for (const name of ['talking', 'screened', 'transferring', 'goodbye'] as const) {
      assert.equal(phase.enter(name), false, name)
    }
    phase.screened()
    assert.equal(phase.name, 'voicemail')
  })

  it('have no prompt when no person can reply to it', () => {
    const prompted = names.filter((name) => phases[name].isPrompted)
    assert.deepEqual(prompted, ['greeting', 'talking', 'screened'])
  })

  it('wait for a person for two turns after a screening prompt, and again after the next one', () => {
    const phase = after('talking')
    phase.screened()
    phase.heardWords()
    phase.screened()
    phase.heardWords()
    assert.equal(phase.name, 'screened')
    phase.heardWords()
    assert.equal(phase.name, 'talking')
  })

  it('have one greeting', () => {
    const phase = after('transferring')
    phase.greeted()
    assert.equal(phase.name, 'transferring')
    const greeting = new CallPhase()
    greeting.greeted()
    assert.equal(greeting.name, 'talking')
  })
})

describe('the loop’s own prompt', () => {
  const never = new Promise<unknown>(() => {})

  it('is not said to a voicemail while a tool is slow', async () => {
    const agent = { voicemail: 'leave_message', voicemailMessage: 'Please call us back.' } as const
    const bench = new ConversationBench(agent, () => never)
    bench.emit(call('slow', {}, 'a'), call('voicemail_detected', {}, 'b'))
    await bench.run(1_000, true)
    assert.deepEqual(named(bench, 'say'), [])
    await bench.finish()
  })

  it('is not said while a colleague’s phone rings', async () => {
    const bench = new ConversationBench({}, undefined, () => never as Promise<never>)
    bench.emit(call('transfer_call'))
    await bench.run(60_000)
    assert.deepEqual(named(bench, 'say'), [])
    await bench.finish()
  })
})

describe('a tool called after the hang-up', () => {
  it('does not run, unless it is an opt-out', async () => {
    const bench = new ConversationBench()
    contactSays(bench, 'Please leave a message after the tone.', 0)
    await bench.run(100)
    assert.deepEqual(named(bench, 'hang_up'), [['voicemail']])
    bench.emit(call('send_dtmf', { digits: '1' }, 'a'), call('opt_out', {}, 'b'))
    await bench.run(20)
    assert.deepEqual(named(bench, 'dtmf'), [])
    assert.equal(named(bench, 'opt_out').length, 1)
    await bench.finish()
  })
})
