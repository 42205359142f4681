import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DialFailure } from '../../telephony/carrier.ts'
import { CallStop, stopReasonOf } from '../../domains/calls/lifecycle/hand-over.ts'
import { endingOfConversation, endingOfFailure, type DialAbort } from './call-ending.ts'

const failure = (changes: Partial<DialFailure>): DialFailure => ({
  cause: 'cancelled',
  reason: 'SIP 487 Request Terminated',
  rang: true,
  invited: true,
  ...changes,
})
const facts = { voicemail: 'none', optedOut: false, isTransferred: false } as const

describe('the ending of an unanswered attempt', () => {
  it('passes on the Retry-After of a congested carrier, and omits it without one', () => {
    const congestion = {
      cause: 'congestion',
      reason: 'SIP 503 Service Unavailable',
      rang: false,
    } as const
    assert.deepEqual(endingOfFailure(failure({ ...congestion, retryAfterMs: 7000 }), undefined), {
      kind: 'congested',
      reason: 'SIP 503 Service Unavailable',
      retryAfterMs: 7000,
    })
    assert.deepEqual(endingOfFailure(failure(congestion), undefined), {
      kind: 'congested',
      reason: 'SIP 503 Service Unavailable',
    })
  })

  it('distinguishes our own reasons to stop', () => {
    const kindOf = (abort: DialAbort | undefined) => {
      const attempt = endingOfFailure(failure({}), abort)
      return attempt.kind === 'ended' ? attempt.ending.status : attempt.kind
    }
    assert.equal(kindOf({ kind: 'cancel_requested' }), 'cancelled')
    assert.equal(kindOf({ kind: 'ring_timeout' }), 'completed')
    assert.equal(kindOf({ kind: 'shutdown' }), 'failed')
    assert.equal(kindOf({ kind: 'breakdown', reason: 'It broke.' }), 'failed')
    assert.equal(kindOf({ kind: 'lease_lost' }), 'lost')
    assert.equal(kindOf(undefined), 'failed')
  })

  it('goes back to the queue when a shutdown came before the INVITE', () => {
    assert.deepEqual(
      endingOfFailure(failure({ invited: false, rang: false, reason: 'Never sent.' }), {
        kind: 'shutdown',
      }),
      { kind: 'unsent', reason: 'Never sent.' },
    )
  })

  it('keeps the network’s result even if we had asked to stop', () => {
    const attempt = endingOfFailure(failure({ cause: 'busy', reason: 'SIP 486 Busy Here' }), {
      kind: 'cancel_requested',
    })
    assert.equal(attempt.kind === 'ended' && attempt.ending.answerStatus, 'busy')
  })
})

describe('the ending of an answered call', () => {
  it('keeps an opt-out as the outcome of a call that broke', () => {
    const ending = endingOfConversation(
      { kind: 'breakdown', reason: 'It broke.' },
      { ...facts, optedOut: true },
    )
    assert.deepEqual(ending, {
      status: 'failed',
      answerStatus: 'answered',
      outcome: 'opted_out',
      outcomeReason: 'It broke.',
    })
  })

  it('is a transfer if the carrier has connected the callee with the target', () => {
    for (const end of [
      { kind: 'hang_up', reason: 'transferred' },
      { kind: 'callee_hung_up' },
    ] as const) {
      const ending = endingOfConversation(end, { ...facts, isTransferred: true })
      assert.deepEqual(
        [ending.status, ending.answerStatus, ending.outcome],
        ['completed', 'answered', 'transferred'],
      )
    }
  })

  for (const [nobody, answerStatus] of [
    ['busy', 'busy'],
    ['fax', 'unknown'],
    ['unobtainable', 'unknown'],
  ] as const) {
    it(`is ${answerStatus} and not reached where ${nobody} was what answered`, () => {
      const ending = endingOfConversation(
        { kind: 'hang_up', reason: 'nobody_there' },
        { ...facts, nobody },
      )
      assert.deepEqual(
        [ending.status, ending.answerStatus, ending.outcome],
        ['completed', answerStatus, 'not_reached'],
      )
    })
  }

  it('leaves the outcome of a plain conversation to its summary', () => {
    assert.deepEqual(endingOfConversation({ kind: 'callee_hung_up' }, facts), {
      status: 'completed',
      answerStatus: 'answered',
    })
  })
})

describe('the reason of an abort', () => {
  it('is a shutdown unless it is a known one', () => {
    const reasons = [
      ...(['cancel_requested', 'lease_lost', 'shutdown'] as const).map(
        (kind) => new CallStop(kind),
      ),
      'cancel_requested',
      undefined,
    ]
    assert.deepEqual(
      reasons.map((reason) => stopReasonOf(AbortSignal.abort(reason))),
      ['cancel_requested', 'lease_lost', 'shutdown', 'shutdown', 'shutdown'],
    )
  })
})
