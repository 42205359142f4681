import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stopReasonOf } from '../domains/calls/lifecycle/hand-over.ts'
import { createLiveCalls } from './live-calls.ts'

describe('the live calls of a node', () => {
  it('keep a call that is claimed again before its last attempt has ended', async () => {
    let settled = 0
    const live = createLiveCalls(() => (settled += 1))
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const signals: AbortSignal[] = []
    for (const { promise } of [first, second]) {
      live.add('a', (signal) => {
        signals.push(signal)
        return promise
      })
    }
    assert.equal(live.size(), 2, 'each holds a channel')
    live.abort('a', 'cancel_requested')
    assert.deepEqual(signals.map(stopReasonOf), ['cancel_requested', 'cancel_requested'])
    first.resolve()
    await first.promise.then(() => Promise.resolve())
    const all = live.settled()
    assert.deepEqual(live.ids(), ['a'])
    assert.equal(settled, 1)
    second.resolve()
    await all
    assert.equal(live.size(), 0)
    assert.equal(settled, 2)
  })
})
