import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { asksNeverToBeCalled } from './opt-out-phrases.ts'
import { builtInTools, parseToolCall } from './tools.ts'

describe('the built-in tools', () => {
  it('are four, and every one is understood when called', () => {
    const tools = builtInTools(['achieved'])
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['end_call', 'send_dtmf', 'opt_out', 'voicemail_detected'],
    )
    for (const { name } of tools) {
      const parsed = parseToolCall(name, name === 'send_dtmf' ? { digits: '12#' } : {})
      assert.equal(parsed.kind, 'built_in', name)
    }
  })

  it('read their arguments', () => {
    assert.deepEqual(parseToolCall('end_call', { outcome: 'achieved' }), {
      kind: 'built_in',
      call: { name: 'end_call', outcome: 'achieved' },
    })
    assert.deepEqual(parseToolCall('opt_out', undefined), {
      kind: 'built_in',
      call: { name: 'opt_out' },
    })
  })

  it('refuse wrong arguments and ignore other names', () => {
    for (const digits of ['', 'hello', '1'.repeat(33), 5]) {
      assert.equal(parseToolCall('send_dtmf', { digits }).kind, 'invalid')
    }
    assert.equal(parseToolCall('end_call', 'now').kind, 'invalid')
    assert.equal(parseToolCall('book_table', {}).kind, 'custom')
    assert.equal(parseToolCall('constructor', {}).kind, 'custom')
  })
})

describe('asksNeverToBeCalled', () => {
  for (const text of [
    'Please never call me again.',
    'Take me off your list.',
    'Remove my number from your calling list!',
    'Don’t call me anymore.',
    'Do not call here again, please.',
    'Stop calling me.',
    'Put me on your do not call list.',
  ]) {
    it(`recognizes it in "${text}"`, () => assert.equal(asksNeverToBeCalled(text), true))
  }
  for (const text of [
    'Can you call me again tomorrow?',
    'Do not call me before nine.',
    'You never called me back.',
    'I am not interested.',
    'Stop calling it a bargain.',
    'Take me through your list.',
  ]) {
    it(`does not recognize it in "${text}"`, () => assert.equal(asksNeverToBeCalled(text), false))
  }
})
