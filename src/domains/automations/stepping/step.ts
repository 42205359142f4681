import type { AutomationDefinition, Step } from '../definition.ts'
import { maxRunDays } from '../../../calling-hours/local-time.ts'
import { chooseCase } from './branch.ts'
import { inCall } from './call-step.ts'
import type { Effect } from './effect.ts'
import type { CallFacts, ContactFacts, RunFacts, RunState } from './run-facts.ts'
import { expiryMs, lookAgainMs, maxRunMs, maxStepsExecuted } from './run-limits.ts'
import { inWait } from './wait-step.ts'

/**
 * The next effect of a run: a pure function, so that the runner and the simulator agree by construction (D6). An
 * unreadable definition fails the run.
 */
export const nextEffect = (
  definition: AutomationDefinition | undefined,
  state: RunState,
  facts: RunFacts,
): Effect => ending(state, facts) ?? hold(state, facts) ?? onward(definition, state, facts)

/** Ends that do not depend on the step. A live call finishes first; a queued one is cancelled. */
const ending = (
  state: RunState,
  { nowMs, isCancelRequested, automationStatus, call }: RunFacts,
) => {
  const end = endOf(
    isCancelRequested,
    automationStatus === 'archived',
    state.startedMs !== null && nowMs >= state.startedMs + maxRunMs,
  )
  if (!end) return undefined
  if (isLive(call)) return { kind: 'watch', lookMs: nowMs + lookAgainMs, reason: liveCall } as const
  return { ...end, cancelsCall: call?.status === 'queued' }
}

const liveCall = 'Its call is live, and finishes.'

const endOf = (isCancelRequested: boolean, isArchived: boolean, isTooOld: boolean) => {
  if (isCancelRequested) return { kind: 'cancel', reason: 'Cancellation was asked for.' } as const
  if (isArchived) {
    const reason = 'Its Automation is archived.'
    return { kind: 'fail', code: 'automation_unavailable', reason } as const
  }
  if (isTooOld) {
    const reason = `It has been going on for ${maxRunDays} days.`
    return { kind: 'fail', code: 'run_expired', reason } as const
  }
  return undefined
}

const isLive = (call: CallFacts | undefined): boolean =>
  call !== undefined && (call.status === 'dialing' || call.status === 'in_progress')

/** While its Automation is paused a run stays in its place, except for a live call. */
const hold = (state: RunState, facts: RunFacts): Effect | undefined => {
  if (facts.automationStatus === 'active' || isLive(facts.call)) return undefined
  return {
    kind: 'hold',
    because: 'paused',
    lookMs: expiryMs(state),
    reason: 'Its Automation is paused.',
  }
}

const onward = (
  definition: AutomationDefinition | undefined,
  state: RunState,
  facts: RunFacts,
): Effect => {
  if (!definition) return invalid('Its definition cannot be read.')
  if (state.step === null)
    return { kind: 'start', step: definition.entry, reason: 'The run starts.' }
  const step = definition.steps[state.step]
  if (!step) return invalid(`Its definition has no step "${state.step}".`)
  if (state.stepsExecuted > maxStepsExecuted) {
    const reason = `It has executed ${maxStepsExecuted} steps.`
    return { kind: 'fail', code: 'step_limit_exceeded', cancelsCall: false, reason }
  }
  return inStep(step, state, facts)
}

const invalid = (reason: string): Effect => ({
  kind: 'fail',
  code: 'definition_invalid',
  cancelsCall: false,
  reason,
})

const inStep = (step: Step, state: RunState, facts: RunFacts): Effect => {
  switch (step.type) {
    case 'call':
      return inCall(step, state, facts)
    case 'wait':
      return inWait(step, state, facts)
    case 'branch': {
      const field = (name: keyof ContactFacts['fields']) => facts.contact?.fields[name] ?? ''
      return { kind: 'move', ...chooseCase(step, { last: state.last, field }), last: state.last }
    }
    case 'end':
      // A pause held it right before its end: it completes by running (D6).
      if (state.status === 'waiting')
        return { kind: 'watch', lookMs: facts.nowMs, reason: 'It goes on.' }
      if (step.result === 'completed') return { kind: 'complete', reason: 'It came to its end.' }
      return {
        kind: 'fail',
        code: step.failure_code ?? 'call_failed',
        cancelsCall: false,
        reason: 'It came to an end that is a failure.',
      }
  }
}
