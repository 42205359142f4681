import type { AutomationDefinition } from '../../src/domains/automations/definition.ts'
import { contactFacts } from '../../src/domains/automations/stepping/contact-facts.ts'
import type {
  CallFacts,
  RunFacts,
  RunState,
} from '../../src/domains/automations/stepping/run-facts.ts'
import { nextEffect } from '../../src/domains/automations/stepping/step.ts'
import { defaultPolicy } from '../../src/domains/organizations/calling-policy.ts'

/** Noon in New York. */
export const noonMs = Date.parse('2026-07-16T16:00:00Z')
export const hourMs = 3_600_000
export const noFields = {
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

export const facts = (changes: Partial<RunFacts> = {}): RunFacts => ({
  nowMs: noonMs,
  automationStatus: 'active',
  isCancelRequested: false,
  contact: contactFacts(noFields, defaultPolicy, false),
  isAgentEligible: true,
  call: undefined,
  ...changes,
})

export const state = (changes: Partial<RunState> = {}): RunState => ({
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

export const definition: AutomationDefinition = {
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

export const next = (at: Partial<RunState>, around: Partial<RunFacts> = {}) =>
  nextEffect(definition, state(at), facts(around))

export const call = (changes: Partial<CallFacts> = {}): CallFacts => ({
  status: 'completed',
  isWaiting: false,
  answerStatus: 'answered',
  outcome: 'achieved',
  wasDialled: true,
  isOutcomePending: false,
  ...changes,
})

export const queued = call({
  status: 'queued',
  isWaiting: true,
  answerStatus: null,
  outcome: null,
  wasDialled: false,
})
export const live = call({ status: 'in_progress', answerStatus: null, outcome: null })
export const unanswered = call({ answerStatus: 'no_answer', outcome: 'not_reached' })
export const calling = { phase: 'call', attempt: 1 } as const

/** Eleven at night in New York; it opens at eight. */
export const nightMs = Date.parse('2026-07-17T03:00:00Z')
export const openMs = Date.parse('2026-07-17T12:00:00Z')

/** The kind of the next effect, or the code it fails with. */
export const codeOf = (at: Partial<RunState>, around: Partial<RunFacts> = {}) => {
  const effect = next(at, around)
  return effect.kind === 'fail' ? effect.code : effect.kind
}
