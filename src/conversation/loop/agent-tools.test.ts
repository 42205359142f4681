import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, contactSays, named } from '../../../tests/support/conversation/bench-events.ts'
import { ConversationBench } from '../../../tests/support/conversation/conversation-bench.ts'

describe('tools', () => {
  it('send digits, and report to the agent which keys the callee pressed', async () => {
    const bench = new ConversationBench()
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
    const bench = new ConversationBench()
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

  it('run for the agent, who mentions a long wait, and are given up after eight seconds', async () => {
    const asked: unknown[] = []
    const never = new Promise<unknown>(() => {})
    const bench = new ConversationBench({}, (name, args) => {
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

  it('called in an endless loop stop until the callee has spoken', async () => {
    const bench = new ConversationBench({}, () => Promise.resolve({}))
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

  it('that do not exist, or get wrong arguments, return an error', async () => {
    const bench = new ConversationBench()
    bench.emit(call('fly', {}, 'a'), call('send_dtmf', { digits: 'abc' }, 'b'))
    await bench.run(20)
    assert.deepEqual(named(bench, 'tool_result'), [
      ['a', { error: 'There is no such tool.' }],
      ['b', { error: 'Wrong arguments for send_dtmf.' }],
    ])
    await bench.finish()
  })
})
