import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, named } from '../../../tests/support/conversation/bench-events.ts'
import type { TransferResult } from './conversation-types.ts'
import { ConversationBench } from '../../../tests/support/conversation/conversation-bench.ts'

describe('a transfer', () => {
  const setUp = () => {
    const result = Promise.withResolvers<TransferResult>()
    let asked = 0
    const bench = new ConversationBench({}, undefined, () => {
      asked += 1
      return result.promise
    })
    return { bench, result, asked: () => asked }
  }

  it('begins after the agent has announced it, and then the call ends', async () => {
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

  it('that is refused is reported to the agent, who continues', async () => {
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

  it('that fails counts as refused, and a late result after the end of the call changes nothing', async () => {
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

  it('is not a tool of an agent without a target', async () => {
    const bench = new ConversationBench()
    bench.emit(call('transfer_call', { to: '+19005550100' }))
    await bench.run(20)
    assert.deepEqual(named(bench, 'tool_result'), [
      ['call_1', { error: 'There is no such tool.' }, true],
    ])
    await bench.finish()
  })
})
