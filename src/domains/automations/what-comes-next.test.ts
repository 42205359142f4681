import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AutomationDefinition } from './definition.ts'
import type { RunPlace } from './run-position-store.ts'
import { whatComesNext } from './what-comes-next.ts'

const definition: AutomationDefinition = {
  entry: 'call',
  steps: {
    call: {
      type: 'call',
      agent_id: 'x',
      next: 'route',
      retry: { max_attempts: 2, delays: ['PT1H'], on: ['busy'] },
    },
    route: {
      type: 'branch',
      cases: [
        { when: { outcome: ['achieved'] }, next: 'done' },
        { when: { outcome: ['opted_out'] }, next: 'done' },
      ],
      otherwise: 'cool_off',
    },
    cool_off: { type: 'wait', for: 'P1D', next: 'call' },
    done: { type: 'end', result: 'failed', failure_code: 'retries_exhausted' },
  },
}

const place = (changes: Partial<RunPlace>): RunPlace => ({
  origin: 'api',
  automation_version: 1,
  automation_name: 'Test',
  definition,
  step: 'call',
  phase: 'enter',
  attempt: 0,
  steps_executed: 1,
  call_id: null,
  call_status: null,
  call_answer_status: null,
  due_at: null,
  wake_at: null,
  wait_reason: null,
  cancel_requested_at: null,
  contact_name: null,
  phone_number: null,
  ...changes,
})

const at = new Date('2026-07-16T08:00:00Z')

test('a live call leads on, and to another attempt while there is one', () => {
  const live = place({ phase: 'call', attempt: 1, call_id: 'c', call_status: 'in_progress' })
  assert.deepEqual(whatComesNext('running', definition, live)?.steps, ['route', 'call'])
  const last = whatComesNext('running', definition, { ...live, attempt: 2 })
  assert.deepEqual(last, { message: 'After its call it goes on to "route".', steps: ['route'] })
})

test('a delay, a wait and calling hours have an instant; a pause has none', () => {
  const retry = place({ phase: 'retry', attempt: 1, due_at: at, wait_reason: 'retry_delay' })
  assert.deepEqual(whatComesNext('waiting', definition, retry), {
    message: 'Attempt 2 of 2 at "call".',
    steps: ['call'],
    at,
  })
  const wait = place({ step: 'cool_off', phase: 'wait', due_at: at, wait_reason: 'wait_step' })
  assert.deepEqual(whatComesNext('waiting', definition, wait)?.at, at)
  const hours = place({ wait_reason: 'calling_hours', wake_at: at })
  assert.deepEqual(whatComesNext('waiting', definition, hours)?.at, at)
  const paused = place({ wait_reason: 'paused', wake_at: at })
  assert.equal(whatComesNext('waiting', definition, paused)?.at, undefined)
})

test('a branch names each step once, and an end its code', () => {
  const branch = whatComesNext('running', definition, place({ step: 'route' }))
  assert.deepEqual(branch?.steps, ['done', 'cool_off'])
  assert.equal(
    whatComesNext('running', definition, place({ step: 'done' }))?.message,
    'It ends retries_exhausted.',
  )
})

test('nothing comes after an end, a cancellation, or a definition that cannot be read', () => {
  for (const status of ['completed', 'failed', 'cancelled'] as const)
    assert.equal(whatComesNext(status, definition, place({})), undefined)
  assert.equal(whatComesNext('running', undefined, place({})), undefined)
  assert.equal(whatComesNext('running', definition, place({ step: 'gone' })), undefined)
  const cancelled = whatComesNext('running', definition, place({ cancel_requested_at: at }))
  assert.deepEqual(cancelled?.steps, [])
})
