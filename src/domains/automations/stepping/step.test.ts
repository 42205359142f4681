import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  call,
  calling,
  codeOf,
  definition,
  facts,
  hourMs,
  live,
  next,
  noFields,
  nightMs,
  noonMs,
  queued,
  state,
  unanswered,
} from '../../../../tests/support/run-at-a-step.ts'
import { runTransitions } from '../run-states.ts'
import { defaultPolicy, sandboxPolicy } from '../../organizations/calling-policy.ts'
import { contactFacts } from './contact-facts.ts'
import type { RunFacts, RunState } from './run-facts.ts'
import { maxRunMs, maxStepsExecuted } from './run-limits.ts'
import { stateAfter } from './state-after.ts'
import { nextEffect } from './step.ts'

test('a queued run starts at its entry', () => {
  const effect = next({ status: 'queued', step: null, stepsExecuted: 0, startedMs: null })
  assert.equal(effect.kind === 'start' && effect.step, 'call')
})

test('a branch takes the first matching case, else otherwise', () => {
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

test('a local time is in the contact’s zone', () => {
  const contact = contactFacts({ ...noFields, phone_number: '+442071838750' }, sandboxPolicy, false)
  const effect = next({ step: 'morning' }, { contact })
  assert.equal(effect.kind === 'sleep' && effect.dueMs, Date.parse('2026-07-17T09:00:00Z'))
})

test('ends give completed, or their failure code, or call_failed', () => {
  assert.equal(codeOf({ step: 'done' }), 'complete')
  assert.equal(codeOf({ step: 'failed' }), 'call_failed')
  assert.equal(codeOf({ step: 'exhausted' }), 'retries_exhausted')
})

test('an unreadable definition, or one without the step, is invalid', () => {
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

test('a paused Automation holds its runs where they are, except for live calls', () => {
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

test('no effect leaves the table of decision D6', () => {
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
