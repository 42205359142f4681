import type { CallStep } from '../definition.ts'
import { addDuration } from '../../../calling-hours/local-time.ts'
import { holidayBetween } from '../../../calling-hours/holidays.ts'
import { nextOpening, type Interval } from '../../../calling-hours/openings.ts'
import type { Effect } from './effect.ts'
import type { CallFacts, ContactFacts, LastCall, RunFacts, RunState } from './run-facts.ts'
import { expiryMs, lookAgainMs } from './run-limits.ts'
import { sleepUntil } from './wait-step.ts'

/** How soon to wake without an opening within the horizon, as lanes do. */
const farAheadMs = 24 * 3_600_000

/** A call step: its next attempt, its current call, or the next step (D6). */
export const inCall = (step: CallStep, state: RunState, facts: RunFacts): Effect => {
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

/** Why a call can never be tried (D6). */
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
  { timeZones, schedules }: ContactFacts,
  opening: Interval | undefined,
  state: RunState,
  nowMs: number,
): Effect => {
  const lookMs = opening?.startMs ?? nowMs + farAheadMs
  const holiday = holidayBetween(schedules[0]?.holidays, timeZones, nowMs, lookMs)
  return {
    kind: 'hold',
    because: 'calling_hours',
    lookMs: Math.min(lookMs, expiryMs(state) ?? lookMs),
    reason: `It is outside the calling hours in ${timeZones.join(', ')}${holiday}.`,
  }
}

/** When the hours close for a call that may still be queued. */
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
      const lookMs = opening ? lookAt(opening, state) : (expiryMs(state) ?? nowMs + farAheadMs)
      return {
        kind: 'watch',
        // A live call may outlast both: its end wakes the run.
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

/** An ended call: another attempt, or on to `next` (D6). */
const afterCall = (step: CallStep, state: RunState, facts: RunFacts, call: CallFacts): Effect => {
  // Refused right before dialling: the call was never tried.
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

/** The last delay repeats. Undefined: the budget is used up, or this answer status is not retried. */
const nextDelay = ({ retry }: CallStep, attempt: number, last: LastCall): string | undefined => {
  if (!retry || attempt >= retry.max_attempts) return undefined
  if (last.answerStatus === null || !retry.on.includes(last.answerStatus)) return undefined
  return retry.delays[Math.min(attempt, retry.delays.length) - 1]
}
