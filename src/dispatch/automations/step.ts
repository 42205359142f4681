import type {
  AutomationDefinition,
  CallStep,
  Step,
  WaitStep,
} from '../../domains/automations/definition.ts'
import { addDuration, maxRunDays, nextLocalTime } from '../../domains/automations/local-time.ts'
import { nextOpening, type Interval } from '../../domains/calls/calling-windows.ts'
import { chooseCase } from './branch.ts'
import type { Effect } from './effect.ts'
import type { CallFacts, ContactFacts, LastCall, RunFacts, RunState } from './run-facts.ts'

/** Steps that one run may execute (D6). */
export const maxStepsExecuted = 200
const dayMs = 24 * 3_600_000
/** How long one run may go on (D6). */
export const maxRunMs = maxRunDays * dayMs
/** While an outcome is being found out, and while a live call keeps a cancelled run. */
const lookAgainMs = 1_000

/**
 * What a run does next: a pure function, so that the runner and the simulator agree by construction (D6). A definition
 * that cannot be read fails the run.
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

/** While its Automation is paused a run stays where it is, but for a call that is live. */
const hold = (state: RunState, facts: RunFacts): Effect | undefined => {
  if (facts.automationStatus === 'active' || isLive(facts.call)) return undefined
  return {
    kind: 'hold',
    because: 'paused',
    lookMs: expiryMs(state),
    reason: 'Its Automation is paused.',
  }
}

const expiryMs = ({ startedMs }: RunState): number | null =>
  startedMs === null ? null : startedMs + maxRunMs

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
      // Held by a pause right before its end: it completes by running (D6).
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

const inWait = (step: WaitStep, state: RunState, facts: RunFacts): Effect => {
  const { last } = state
  if (state.phase === 'wait' && state.dueMs !== null) {
    if (facts.nowMs < state.dueMs)
      return sleepUntil('wait_step', state.dueMs, state, last, 'The wait goes on.')
    return { kind: 'move', to: step.next, last, reason: 'The wait is over.' }
  }
  const zones = facts.contact?.timeZones ?? ['UTC']
  const notBeforeMs =
    step.for === undefined ? facts.nowMs : addDuration(facts.nowMs, step.for, zones)
  const dueMs =
    step.until_local_time === undefined
      ? notBeforeMs
      : nextLocalTime(step.until_local_time, { nowMs: facts.nowMs, notBeforeMs }, zones)
  return sleepUntil('wait_step', dueMs, state, last, describeWait(step, zones))
}

const describeWait = (step: WaitStep, zones: readonly string[]): string =>
  [
    'It waits',
    step.for === undefined ? '' : ` ${step.for}`,
    step.until_local_time === undefined
      ? ''
      : `${step.for === undefined ? '' : ' and then'} until ${step.until_local_time} in ${zones.join(', ')}`,
    '.',
  ].join('')

/** It also wakes to expire. */
const sleepUntil = (
  because: 'wait_step' | 'retry_delay',
  dueMs: number,
  state: RunState,
  last: LastCall,
  reason: string,
): Effect => ({
  kind: 'sleep',
  because,
  dueMs,
  lookMs: Math.min(dueMs, expiryMs(state) ?? dueMs),
  last,
  reason,
})

const inCall = (step: CallStep, state: RunState, facts: RunFacts): Effect => {
  if (state.phase === 'call' && facts.call) return withCall(step, state, facts, facts.call)
  if (state.phase === 'retry' && state.dueMs !== null && facts.nowMs < state.dueMs)
    return sleepUntil('retry_delay', state.dueMs, state, state.last, 'The delay goes on.')
  return attemptCall(step, state, facts)
}

const attemptCall = (step: CallStep, state: RunState, facts: RunFacts): Effect => {
  const { contact, nowMs } = facts
  const refused = refusal(facts)
  if (refused || !contact) return refused ?? contactGone
  const opening = nextOpening(contact.schedules, nowMs)
  if (!isOpen(opening, nowMs)) return closedHours(contact, opening, state, nowMs)
  const attempt = state.attempt + 1
  return {
    kind: 'call',
    step,
    attempt,
    lookMs: lookAt(opening, state),
    reason: `Attempt ${attempt}${step.retry ? ` of ${step.retry.max_attempts}` : ''}.`,
  }
}

const contactGone: Effect = {
  kind: 'fail',
  code: 'contact_unavailable',
  cancelsCall: false,
  reason: 'The contact no longer exists.',
}

/** Why a call cannot be tried at all (D6). */
const refusal = ({ contact, isAgentEligible }: RunFacts): Effect | undefined => {
  if (!contact) return contactGone
  const fail = { kind: 'fail', cancelsCall: false } as const
  if (!isAgentEligible)
    return { ...fail, code: 'agent_unavailable', reason: 'The agent is no longer published.' }
  if (contact.blockedBecause !== undefined)
    return { ...fail, code: 'recipient_blocked', reason: contact.blockedBecause }
  return undefined
}

const isOpen = (opening: Interval | undefined, nowMs: number): opening is Interval =>
  opening !== undefined && opening.startMs <= nowMs

const closedHours = (
  { timeZones }: ContactFacts,
  opening: Interval | undefined,
  state: RunState,
  nowMs: number,
): Effect => {
  // Where no opening is within sight it looks again, as lanes do.
  const lookMs = opening?.startMs ?? nowMs + dayMs
  return {
    kind: 'hold',
    because: 'calling_hours',
    lookMs: Math.min(lookMs, expiryMs(state) ?? lookMs),
    reason: `It is outside the calling hours in ${timeZones.join(', ')}.`,
  }
}

/** When the hours close on a call that may still be queued. */
const lookAt = (opening: Interval, state: RunState): number =>
  Math.min(opening.endMs, expiryMs(state) ?? opening.endMs)

const withCall = (step: CallStep, state: RunState, facts: RunFacts, call: CallFacts): Effect => {
  const { nowMs } = facts
  switch (call.status) {
    case 'queued':
    case 'dialing':
    case 'in_progress': {
      const opening = facts.contact && nextOpening(facts.contact.schedules, nowMs)
      if (facts.contact && call.isWaiting && !isOpen(opening, nowMs))
        return closedHours(facts.contact, opening, state, nowMs)
      const lookMs = opening ? lookAt(opening, state) : (expiryMs(state) ?? nowMs + dayMs)
      return {
        kind: 'watch',
        // A live call may outlast both: it wakes the run when it ends.
        lookMs: lookMs > nowMs ? lookMs : nowMs + lookAgainMs,
        reason: 'Its call is queued or live.',
      }
    }
    case 'completed':
    case 'failed':
    case 'cancelled':
      return afterCall(step, state, facts, call)
  }
}

/** A call that ended, however it ended: another attempt, or on to `next` (D6). */
const afterCall = (step: CallStep, state: RunState, facts: RunFacts, call: CallFacts): Effect => {
  // Refused right before it was dialled: it could not be tried.
  const refused = call.status === 'failed' && !call.wasDialled ? refusal(facts) : undefined
  if (refused) return refused
  if (call.isOutcomePending) {
    const reason = 'The outcome of its call is being found out.'
    return { kind: 'watch', lookMs: facts.nowMs + lookAgainMs, reason }
  }
  const last: LastCall = { outcome: call.outcome, answerStatus: call.answerStatus }
  const delay = nextDelay(step, state.attempt, last)
  const ended = `The call ended: ${call.status}, ${call.answerStatus ?? 'unknown'}${call.outcome === null ? '' : `, ${call.outcome}`}.`
  if (delay === undefined) return { kind: 'move', to: step.next, last, reason: ended }
  const dueMs = addDuration(facts.nowMs, delay, facts.contact?.timeZones ?? ['UTC'])
  return sleepUntil('retry_delay', dueMs, state, last, `${ended} It is tried again after ${delay}.`)
}

/** The last delay repeats. Undefined: the budget is used up, or this answer is not to be tried again. */
const nextDelay = ({ retry }: CallStep, attempt: number, last: LastCall): string | undefined => {
  if (!retry || attempt >= retry.max_attempts) return undefined
  if (last.answerStatus === null || !retry.on.includes(last.answerStatus)) return undefined
  return retry.delays[Math.min(attempt, retry.delays.length) - 1]
}

/** The state after an effect that keeps the run active; what `commitEffect` stores, and the simulator keeps. */
export const stateAfter = (state: RunState, effect: Effect, nowMs: number): RunState => {
  switch (effect.kind) {
    case 'start':
      return { ...entered(state, effect.step), status: 'running', startedMs: nowMs }
    case 'move':
      return { ...entered(state, effect.to), status: 'running', last: effect.last }
    case 'call':
      return { ...state, status: 'running', phase: 'call', attempt: effect.attempt, dueMs: null }
    case 'sleep':
      return {
        ...state,
        status: 'waiting',
        phase: effect.because === 'wait_step' ? 'wait' : 'retry',
        dueMs: effect.dueMs,
        last: effect.last,
      }
    case 'hold':
      return { ...state, status: state.status === 'queued' ? 'queued' : 'waiting' }
    case 'watch':
      return { ...state, status: 'running' }
    case 'complete':
    case 'fail':
    case 'cancel':
      return state
  }
}

const entered = (state: RunState, step: string): RunState => ({
  ...state,
  step,
  phase: 'enter',
  attempt: 0,
  dueMs: null,
  stepsExecuted: state.stepsExecuted + 1,
})
