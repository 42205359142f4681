import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  call,
  calling,
  codeOf,
  hourMs,
  live,
  next,
  nightMs,
  noFields,
  noonMs,
  openMs,
  queued,
  state,
  unanswered,
} from '../../../../tests/support/run-at-a-step.ts'
import { defaultPolicy } from '../../organizations/calling-policy.ts'
import { contactFacts } from './contact-facts.ts'
import { stateAfter } from './state-after.ts'

test('a call step queues a call in open hours, and wakes when they close', () => {
  const effect = next({})
  assert.ok(effect.kind === 'call')
  assert.equal(effect.attempt, 1)
  assert.equal(effect.lookMs, Date.parse('2026-07-17T01:00:00Z'))
})

test('outside the hours of the callee’s zone a call step waits for them', () => {
  const effect = next({}, { nowMs: nightMs })
  assert.ok(effect.kind === 'hold')
  assert.deepEqual([effect.because, effect.lookMs], ['calling_hours', openMs])
  assert.equal(stateAfter(state(), effect, nightMs).status, 'waiting')
})

test('on a holiday of the callee’s calendar a call step waits for the day after', () => {
  const holidays = [{ date: '2020-07-16', name: 'Founding day', everyYear: true }]
  const contact = contactFacts(noFields, { ...defaultPolicy, holidays }, false)
  const effect = next({}, { contact, nowMs: noonMs })
  assert.ok(effect.kind === 'hold')
  assert.equal(effect.because, 'calling_hours')
  assert.equal(effect.lookMs, Date.parse('2026-07-17T12:00:00Z'))
  assert.match(effect.reason, /2026-07-16 is a holiday \(Founding day\)\.$/)
})

test('without hours within the horizon it wakes a day later', () => {
  const contact = { ...contactFacts(noFields, defaultPolicy, false), schedules: [] }
  const effect = next({}, { contact })
  assert.equal(effect.kind === 'hold' && effect.lookMs, noonMs + 24 * hourMs)
})

test('a step whose call is queued or live is running', () => {
  for (const facts of [queued, live, call({ status: 'dialing' })]) {
    const effect = next({ ...calling, status: 'waiting' }, { call: facts })
    assert.equal(effect.kind, 'watch')
    assert.equal(stateAfter(state({ status: 'waiting' }), effect, noonMs).status, 'running')
  }
})

test('a run waits while hours close on its queued call, not on a claimed or a live one', () => {
  const effect = next(calling, { call: queued, nowMs: nightMs })
  assert.deepEqual([effect.kind, effect.kind === 'hold' && effect.lookMs], ['hold', openMs])
  const claimed = { ...queued, isWaiting: false }
  for (const facts of [claimed, live])
    assert.equal(next(calling, { call: facts, nowMs: nightMs }).kind, 'watch')
})

test('an answer status in `on` is tried again after each delay in order, the last one repeating', () => {
  const dues = [1, 2, 3].map((attempt) => {
    const effect = next({ phase: 'call', attempt }, { call: unanswered })
    assert.ok(effect.kind === 'sleep')
    assert.equal(effect.because, 'retry_delay')
    return (effect.dueMs - noonMs) / hourMs
  })
  assert.deepEqual(dues, [0.5, 4, 4])
})

test('the budget of a visit counts its first attempt', () => {
  const effect = next({ phase: 'call', attempt: 4 }, { call: unanswered })
  assert.equal(effect.kind === 'move' && effect.to, 'branch')
})

test('a new visit of the step has a new budget', () => {
  const used = state({ phase: 'call', attempt: 4, step: 'call' })
  const moved = stateAfter(used, { kind: 'move', to: 'call', last: used.last, reason: '' }, noonMs)
  assert.deepEqual([moved.attempt, moved.phase, moved.stepsExecuted], [0, 'enter', 2])
})

test('an answer status outside `on`, and any without a retry, leads to next', () => {
  const answers = [
    call({ answerStatus: 'voicemail' }),
    call({ status: 'failed', answerStatus: 'unknown' }),
    call({ status: 'cancelled', answerStatus: 'unknown', wasDialled: false }),
  ]
  for (const facts of answers) {
    const effect = next(calling, { call: facts })
    assert.equal(effect.kind === 'move' && effect.to, 'branch')
  }
  const once = next({ ...calling, step: 'once' }, { call: unanswered })
  assert.equal(once.kind === 'move' && once.to, 'done')
})

test('a run waits for the outcome of an ended call while its conversation is summarized', () => {
  const pending = call({ outcome: null, isOutcomePending: true })
  assert.equal(next(calling, { call: pending }).kind, 'watch')
  const known = next(calling, { call: call() })
  assert.deepEqual(known.kind === 'move' && known.last, {
    outcome: 'achieved',
    answerStatus: 'answered',
  })
})

test('a retry delay runs to its end, then the next attempt is made', () => {
  const delaying = { phase: 'retry', attempt: 1, status: 'waiting', dueMs: noonMs + 1 } as const
  assert.equal(next(delaying).kind, 'sleep')
  const effect = next({ ...delaying, dueMs: noonMs })
  assert.equal(effect.kind === 'call' && effect.attempt, 2)
})

test('a call that can never be tried fails the run with the matching code', () => {
  const contact = contactFacts(noFields, defaultPolicy, true)
  const abroad = contactFacts({ ...noFields, phone_number: '+442071838750' }, defaultPolicy, false)
  for (const at of [{}, { phase: 'retry', attempt: 1, dueMs: noonMs } as const]) {
    assert.equal(codeOf(at, { contact: undefined }), 'contact_unavailable')
    assert.equal(codeOf(at, { contact }), 'recipient_blocked')
    assert.equal(codeOf(at, { contact: abroad }), 'recipient_blocked')
    assert.equal(codeOf(at, { isAgentEligible: false }), 'agent_unavailable')
  }
})

test('a call that was refused before dialling counts as never tried', () => {
  const refused = call({ status: 'failed', answerStatus: 'unknown', wasDialled: false })
  const contact = contactFacts(noFields, defaultPolicy, true)
  assert.equal(codeOf(calling, { call: refused, contact }), 'recipient_blocked')
  assert.equal(codeOf(calling, { call: refused, isAgentEligible: false }), 'agent_unavailable')
  assert.equal(codeOf(calling, { call: refused, contact: undefined }), 'contact_unavailable')
  assert.equal(codeOf(calling, { call: { ...refused, wasDialled: true }, contact }), 'move')
})
