import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ResponseSequencer } from './response-sequencer.ts'

const createBench = () => {
  const sent: (object | undefined)[] = []
  const eventIds: string[] = []
  const sequencer = new ResponseSequencer((eventId, response) => {
    eventIds.push(eventId)
    sent.push(response)
  })
  return { sent, eventIds, sequencer }
}

const one = { instructions: 'one' }
const two = { instructions: 'two' }

describe('the response sequencer', () => {
  it('requests one response at a time, in order', () => {
    const { sent, sequencer } = createBench()
    sequencer.request(one)
    sequencer.request(two)
    assert.deepEqual(sent, [one])
    sequencer.created('r1')
    assert.equal(sequencer.inFlightId, 'r1')
    sequencer.done('r1')
    assert.deepEqual(sent, [one, two])
  })

  it('repeats a request that was refused because the server had begun a response by itself', () => {
    const { sent, eventIds, sequencer } = createBench()
    sequencer.request(one)
    sequencer.created('server')
    sequencer.refused(eventIds[0])
    assert.deepEqual(sent, [one])
    sequencer.done('server')
    assert.deepEqual(sent, [one, one])
  })

  it('repeats it when the refusal comes before the response it names', () => {
    const { sent, eventIds, sequencer } = createBench()
    sequencer.request(one)
    sequencer.refused(eventIds[0])
    sequencer.created('server')
    sequencer.done('server')
    assert.deepEqual(sent, [one, one])
  })

  it('requests a reply only if the server does not begin one by itself', () => {
    const { sent, sequencer } = createBench()
    sequencer.request(one)
    sequencer.created('r1')
    sequencer.oweReply()
    sequencer.done('r1')
    assert.deepEqual(sent, [one, undefined])
    sequencer.created('r2')
    sequencer.oweReply()
    sequencer.created('server')
    sequencer.done('server')
    assert.deepEqual(sent, [one, undefined])
  })

  it('drops the oldest request when too many wait', () => {
    const { sent, sequencer } = createBench()
    sequencer.request(one)
    sequencer.created('r')
    for (let count = 0; count < 9; count += 1) sequencer.request({ count })
    for (let count = 0; count < 9; count += 1) {
      sequencer.done('r')
      sequencer.created('r')
    }
    assert.deepEqual(
      sent.slice(1),
      Array.from({ length: 8 }, (_, index) => ({ count: index + 1 })),
    )
  })
})
