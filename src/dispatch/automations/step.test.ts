import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AutomationDefinition } from '../../domains/automations/definition.ts'
import { runTransitions } from '../../domains/automations/run-states.ts'
import { defaultPolicy, sandboxPolicy } from '../../domains/organizations/calling-policy.ts'
import { contactFacts } from './load-run.ts'
import type { CallFacts, RunFacts, RunState } from './run-facts.ts'
import { maxRunMs, maxStepsExecuted, nextEffect, stateAfter } from './step.ts'

/** Noon in New York. */
const noonMs = Date.parse('2026-07-16T16:00:00Z')
const hourMs = 3_600_000
const noFields = {
  name: '',
  phone_number: '+12125550100',
  external_id: '',
  source: '',
  email: '',
  company: '',
  role: '',
  city: '',
  country: 'US',
}

const facts = (changes: Partial<RunFacts> = {}): RunFacts => ({
  nowMs: noonMs,
  automationStatus: 'active',
  isCancelRequested: false,
  contact: contactFacts(noFields, defaultPolicy, false),
  isAgentEligible: true,
  call: undefined,
  ...changes,
})

const state = (changes: Partial<RunState> = {}): RunState => ({
  status: 'running',
  step: 'call',
  phase: 'enter',
  attempt: 0,
  stepsExecuted: 1,
  dueMs: null,
  startedMs: noonMs - hourMs,
  last: { outcome: null, answerStatus: null },
  ...changes,
})

const definition: AutomationDefinition = {
  entry: 'call',
  steps: {
    call: {
      type: 'call',
      agent_id: 'a',
      next: 'branch',
      retry: { max_attempts: 4, delays: ['PT30M', 'PT4H'], on: ['no_answer', 'busy'] },
    },
    once: { type: 'call', agent_id: 'a', next: 'done' },
    branch: {
      type: 'branch',
      cases: [
        { when: { outcome: ['achieved', 'transferred'] }, next: 'done' },
        { when: { answer_status: ['busy'], 'contact.country': ['US'] }, next: 'wait' },
        { when: { 'contact.city': [''] }, next: 'morning' },
      ],
      otherwise: 'failed',
    },
    wait: { type: 'wait', for: 'PT2H', next: 'call' },
    morning: { type: 'wait', until_local_time: '10:00', next: 'call' },
    done: { type: 'end', result: 'completed' },
    failed: { type: 'end', result: 'failed' },
    exhausted: { type: 'end', result: 'failed', failure_code: 'retries_exhausted' },
  },
}

const next = (at: Partial<RunState>, around: Partial<RunFacts> = {}) =>
  nextEffect(definition, state(at), facts(around))

const call = (changes: Partial<CallFacts> = {}): CallFacts => ({
  status: 'completed',
  isWaiting: false,
  answerStatus: 'answered',
  outcome: 'achieved',
  wasDialled: true,
  isOutcomePending: false,
  ...changes,
})

const queued = call({
  status: 'queued',
  isWaiting: true,
  answerStatus: null,
  outcome: null,
  wasDialled: false,
})
const live = call({ status: 'in_progress', answerStatus: null, outcome: null })
const unanswered = call({ answerStatus: 'no_answer', outcome: 'not_reached' })
const calling = { phase: 'call', attempt: 1 } as const

/** Eleven at night in New York; it opens at eight. */
const nightMs = Date.parse('2026-07-17T03:00:00Z')
const openMs = Date.parse('2026-07-17T12:00:00Z')

test('a queued run starts at its entry', () => {
  const effect = next({ status: 'queued', step: null, stepsExecuted: 0, startedMs: null })
  assert.equal(effect.kind === 'start' && effect.step, 'call')
})

test('a call step queues a call in open hours, and looks again when they close', () => {
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

test('where no hours are within sight it looks again a day later', () => {
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

test('an answer in `on` is tried again after each delay in turn, the last one repeating', () => {
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

test('an answer that is not in `on`, and any answer without a retry, leads to next', () => {
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

test('the outcome of an ended call is waited for while its conversation is read', () => {
  const pending = call({ outcome: null, isOutcomePending: true })
  assert.equal(next(calling, { call: pending }).kind, 'watch')
  const known = next(calling, { call: call() })
  assert.deepEqual(known.kind === 'move' && known.last, {
    outcome: 'achieved',
    answerStatus: 'answered',
  })
})

test('a retry delay goes on until it is over, then the next attempt is made', () => {
  const delaying = { phase: 'retry', attempt: 1, status: 'waiting', dueMs: noonMs + 1 } as const
  assert.equal(next(delaying).kind, 'sleep')
  const effect = next({ ...delaying, dueMs: noonMs })
  assert.equal(effect.kind === 'call' && effect.attempt, 2)
})

test('a branch takes the first case that matches, else otherwise', () => {
  const to = (last: RunState['last'], city = 'Rome') => {
    const contact = contactFacts({ ...noFields, city }, defaultPolicy, false)
    const effect = next({ step: 'branch', last }, { contact })
    return effect.kind === 'move' && effect.to
  }
  assert.equal(to({ outcome: 'transferred', answerStatus: 'busy' }), 'done')
  assert.equal(to({ outcome: 'not_reached', answerStatus: 'busy' }), 'wait')
  assert.equal(to({ outcome: null, answerStatus: null }, ''), 'morning')
  assert.equal(to({ outcome: null, answerStatus: 'answered' }), 'failed')
})

test('all members of a when must match', () => {
  const contact = contactFacts({ ...noFields, country: 'DE', city: 'Bonn' }, defaultPolicy, false)
  const effect = next(
    { step: 'branch', last: { outcome: null, answerStatus: 'busy' } },
    { contact },
  )
  assert.equal(effect.kind === 'move' && effect.to, 'failed')
})

test('a wait sleeps until its time, then moves on', () => {
  const asleep = next({ step: 'wait' })
  assert.equal(asleep.kind === 'sleep' && asleep.dueMs, noonMs + 2 * hourMs)
  const waiting = { step: 'wait', phase: 'wait', status: 'waiting' } as const
  assert.equal(next({ ...waiting, dueMs: noonMs + 1 }).kind, 'sleep')
  const awake = next({ ...waiting, dueMs: noonMs })
  assert.equal(awake.kind === 'move' && awake.to, 'call')
})

test('a local time is that of the contact', () => {
  const contact = contactFacts({ ...noFields, phone_number: '+442071838750' }, sandboxPolicy, false)
  const effect = next({ step: 'morning' }, { contact })
  assert.equal(effect.kind === 'sleep' && effect.dueMs, Date.parse('2026-07-17T09:00:00Z'))
})

const codeOf = (at: Partial<RunState>, around: Partial<RunFacts> = {}) => {
  const effect = next(at, around)
  return effect.kind === 'fail' ? effect.code : effect.kind
}

test('ends say completed, or their failure code, or call_failed', () => {
  assert.equal(codeOf({ step: 'done' }), 'complete')
  assert.equal(codeOf({ step: 'failed' }), 'call_failed')
  assert.equal(codeOf({ step: 'exhausted' }), 'retries_exhausted')
})

test('a call that cannot be tried at all fails the run with the matching code', () => {
  const contact = contactFacts(noFields, defaultPolicy, true)
  const abroad = contactFacts({ ...noFields, phone_number: '+442071838750' }, defaultPolicy, false)
  for (const at of [{}, { phase: 'retry', attempt: 1, dueMs: noonMs } as const]) {
    assert.equal(codeOf(at, { contact: undefined }), 'contact_unavailable')
    assert.equal(codeOf(at, { contact }), 'recipient_blocked')
    assert.equal(codeOf(at, { contact: abroad }), 'recipient_blocked')
    assert.equal(codeOf(at, { isAgentEligible: false }), 'agent_unavailable')
  }
})

test('a call that was refused before it was dialled could not be tried', () => {
  const refused = call({ status: 'failed', answerStatus: 'unknown', wasDialled: false })
  const contact = contactFacts(noFields, defaultPolicy, true)
  assert.equal(codeOf(calling, { call: refused, contact }), 'recipient_blocked')
  assert.equal(codeOf(calling, { call: refused, isAgentEligible: false }), 'agent_unavailable')
  assert.equal(codeOf(calling, { call: refused, contact: undefined }), 'contact_unavailable')
  assert.equal(codeOf(calling, { call: { ...refused, wasDialled: true }, contact }), 'move')
})

test('a definition that cannot be read, or lacks the step, is invalid', () => {
  const unread = nextEffect(undefined, state(), facts())
  assert.equal(unread.kind === 'fail' && unread.code, 'definition_invalid')
  assert.equal(codeOf({ step: 'gone' }), 'definition_invalid')
})

test('the 200th step is executed, the 201st is not', () => {
  assert.equal(codeOf({ stepsExecuted: maxStepsExecuted }), 'call')
  assert.equal(codeOf({ stepsExecuted: maxStepsExecuted + 1 }), 'step_limit_exceeded')
})

test('a run of 90 days expires; a queued call goes with it, a live one finishes first', () => {
  const old = { startedMs: noonMs - maxRunMs }
  assert.equal(codeOf(old), 'run_expired')
  assert.equal(codeOf({ startedMs: old.startedMs + 1 }), 'call')
  const withQueued = next({ ...old, ...calling }, { call: queued })
  assert.ok(withQueued.kind === 'fail' && withQueued.cancelsCall)
  assert.equal(codeOf({ ...old, ...calling }, { call: live }), 'watch')
  const nearly = next({ startedMs: noonMs - maxRunMs + hourMs, step: 'wait' })
  assert.equal(nearly.kind === 'sleep' && nearly.lookMs, noonMs + hourMs)
})

test('the end of an Automation fails its runs, once their live calls have ended', () => {
  const archived = { automationStatus: 'archived' } as const
  assert.equal(codeOf({}, archived), 'automation_unavailable')
  assert.equal(codeOf({ status: 'queued', step: null }, archived), 'automation_unavailable')
  assert.equal(codeOf(calling, { ...archived, call: live }), 'watch')
  const effect = next(calling, { ...archived, call: queued })
  assert.ok(effect.kind === 'fail' && effect.cancelsCall)
})

test('a cancellation ends the run between steps; a live call finishes, a queued one is cancelled', () => {
  const isCancelRequested = true
  assert.deepEqual(next({}, { isCancelRequested }).kind, 'cancel')
  const withQueued = next(calling, { isCancelRequested, call: queued })
  assert.ok(withQueued.kind === 'cancel' && withQueued.cancelsCall)
  assert.equal(next(calling, { isCancelRequested, call: live }).kind, 'watch')
  const after = next(calling, { isCancelRequested, call: call() })
  assert.ok(after.kind === 'cancel' && !after.cancelsCall)
})

test('a paused Automation holds its runs where they are, but for live calls', () => {
  const paused = { automationStatus: 'paused' } as const
  const held = next({}, paused)
  assert.ok(held.kind === 'hold' && held.because === 'paused')
  assert.equal(stateAfter(state(), held, noonMs).status, 'waiting')
  assert.equal(stateAfter(state({ status: 'queued' }), held, noonMs).status, 'queued')
  assert.equal(next(calling, { ...paused, call: queued }).kind, 'hold')
  assert.equal(next(calling, { ...paused, call: live }).kind, 'watch')
  assert.equal(next({ status: 'queued', step: null, startedMs: null }, paused).kind, 'hold')
})

test('a run that was held right before its end runs before it completes', () => {
  const effect = next({ step: 'done', status: 'waiting' })
  assert.deepEqual([effect.kind, effect.kind === 'watch' && effect.lookMs], ['watch', noonMs])
})

test('no effect leads out of the table of decision D6', () => {
  const terminal = { complete: 'completed', fail: 'failed', cancel: 'cancelled' } as const
  const places: Partial<RunState>[] = [
    { step: null, startedMs: null },
    ...Object.keys(definition.steps).map((step) => ({ step })),
    calling,
    { step: 'wait', phase: 'wait', dueMs: noonMs },
  ]
  const surroundings: Partial<RunFacts>[] = [
    {},
    { nowMs: nightMs },
    { isCancelRequested: true },
    { automationStatus: 'paused' },
    { automationStatus: 'archived' },
    { call: queued },
    { call: live },
    { call: unanswered },
    { contact: undefined },
  ]
  let looks = 0
  for (const status of ['queued', 'running', 'waiting'] as const)
    for (const place of places.filter((each) => (each.step === null) === (status === 'queued')))
      for (const around of surroundings) {
        const from = state({ ...place, status })
        const effect = nextEffect(definition, from, facts(around))
        const to =
          effect.kind === 'complete' || effect.kind === 'fail' || effect.kind === 'cancel'
            ? terminal[effect.kind]
            : stateAfter(from, effect, noonMs).status
        const following: readonly string[] = runTransitions[status]
        assert.ok(to === status || following.includes(to), `${status} → ${to} (${effect.kind})`)
        looks += 1
      }
  assert.ok(looks > 100)
})
