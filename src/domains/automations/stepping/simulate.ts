import type { RunFailureCode } from '../../../contract/automation-runs.ts'
import type { AutomationDefinition, BranchableField } from '../definition.ts'
import { dayOfCallee, nextOpening } from '../../../calling-hours/openings.ts'
import type { CallingPolicy } from '../../organizations/calling-policy.ts'
import { InvalidFileError } from '../../organizations/invalid-file.ts'
import { goesOn, type Effect } from './effect.ts'
import { contactFacts } from './contact-facts.ts'
import type { CallFacts, ContactFacts, RunState } from './run-facts.ts'
import type { SimulatedAnswer } from './simulated-answers.ts'
import { stateAfter } from './state-after.ts'
import { nextEffect } from './step.ts'

export interface Simulation {
  readonly definition: AutomationDefinition
  readonly contact: Readonly<Record<BranchableField, string>>
  readonly policy: CallingPolicy
  /** Answers of the calls in order; the last one repeats. */
  readonly answers: readonly [SimulatedAnswer, ...SimulatedAnswer[]]
  readonly startMs: number
  readonly isOnDoNotCallList?: boolean
  /** The most moves; by default more than any run of 200 steps can make. */
  readonly maxMoves?: number
}

/** One line of the timetable. */
export interface SimulatedMove {
  readonly atMs: number
  /** The run's position. */
  readonly step: string | null
  readonly effect: Effect
  /** With `call`: when it is dialled, which may be later than it is queued, and how it ends. */
  readonly call?: { readonly dialledMs: number; readonly answer: SimulatedAnswer }
}

export interface SimulatedRun {
  readonly moves: readonly SimulatedMove[]
  readonly timeZones: readonly string[]
  readonly status: 'completed' | 'failed'
  readonly failureCode: RunFailureCode | undefined
  readonly endedMs: number
}

const mostMoves = 50_000

/**
 * Runs a definition on a virtual clock, with the same `nextEffect` and the same calling windows as the runner.
 * Assumes free capacity; applies the policy's limit of attempts per number and day. Throws `InvalidFileError` for a run
 * of more moves than it may make.
 */
export const simulate = (simulation: Simulation): SimulatedRun => {
  const { definition, maxMoves = mostMoves } = simulation
  const contact = createSimulatedContact(simulation)
  const moves: SimulatedMove[] = []
  let nowMs = simulation.startMs
  let state = initialState
  let call: SimulatedCall | undefined
  while (moves.length < maxMoves) {
    const effect = nextEffect(definition, state, {
      nowMs,
      automationStatus: 'active',
      isCancelRequested: false,
      isAgentEligible: true,
      contact: contact.facts(),
      call: call && callFacts(call, nowMs),
    })
    if (effect.kind === 'call') call = contact.place(nowMs)
    else if (effect.kind !== 'watch' && effect.kind !== 'hold') call = undefined
    if (effect.kind !== 'watch')
      moves.push({
        atMs: nowMs,
        step: state.step,
        effect,
        ...(effect.kind === 'call' && call && { call }),
      })
    if (effect.kind === 'complete') return ended('completed', undefined)
    if (effect.kind === 'fail') return ended('failed', effect.code)
    state = stateAfter(state, effect, nowMs)
    nowMs = wakeMs(effect, call, nowMs)
  }
  const message = `A run makes more than ${maxMoves} moves before it ends: it has too many attempts to be shown.`
  throw new InvalidFileError([{ path: 'definition', message }])

  function ended(status: SimulatedRun['status'], failureCode: RunFailureCode | undefined) {
    return { moves, timeZones: contact.facts().timeZones, status, failureCode, endedMs: nowMs }
  }
}

const initialState: RunState = {
  status: 'queued',
  step: null,
  phase: 'enter',
  attempt: 0,
  stepsExecuted: 0,
  dueMs: null,
  startedMs: null,
  last: { outcome: null, answerStatus: null },
}

interface SimulatedCall {
  readonly dialledMs: number
  readonly endedMs: number
  readonly answer: SimulatedAnswer
}

const callFacts = ({ dialledMs, endedMs, answer }: SimulatedCall, nowMs: number): CallFacts => ({
  status: nowMs < dialledMs ? 'queued' : nowMs < endedMs ? 'in_progress' : answer.status,
  isWaiting: nowMs < dialledMs,
  answerStatus: nowMs < endedMs ? null : answer.answerStatus,
  outcome: nowMs < endedMs ? null : answer.outcome,
  wasDialled: nowMs >= dialledMs,
  isOutcomePending: false,
})

/** When the run wakes: at its own time, or when its call ends, whichever comes first. */
const wakeMs = (effect: Effect, call: SimulatedCall | undefined, nowMs: number): number => {
  if (goesOn(effect) || !('lookMs' in effect)) return nowMs
  const wakes = [effect.lookMs, call?.endedMs].filter((ms) => typeof ms === 'number')
  return Math.max(nowMs, Math.min(...wakes))
}

const createSimulatedContact = (simulation: Simulation) => {
  const { contact, policy, answers } = simulation
  const dialledMs: number[] = []
  let isBlocked = simulation.isOnDoNotCallList ?? false
  let facts = contactFacts(contact, policy, isBlocked)

  const place = (nowMs: number): SimulatedCall => {
    const answer = answers[Math.min(dialledMs.length, answers.length - 1)] ?? answers[0]
    const dialled = dialTime(facts, policy, dialledMs, nowMs)
    dialledMs.push(dialled)
    // An opt-out enters the do-not-call list at the end of that call.
    if (answer.outcome === 'opted_out') {
      isBlocked = true
      facts = contactFacts(contact, policy, isBlocked)
    }
    return { dialledMs: dialled, endedMs: dialled + answer.lastsMs, answer }
  }
  return { facts: () => facts, place }
}

/** Days searched for one on which the number may be dialled again. */
const maxDays = 400

/** The gate's checks before dialling: hours, and attempts per number and day of the callee. */
const dialTime = (
  { timeZones, schedules }: ContactFacts,
  { attemptsPerNumberPerDay: limit }: CallingPolicy,
  earlier: readonly number[],
  fromMs: number,
): number => {
  let atMs = fromMs
  for (let day = 0; day < maxDays; day += 1) {
    const opening = nextOpening(schedules, atMs)
    atMs = Math.max(atMs, opening?.startMs ?? atMs)
    const { startMs, endMs } = dayOfCallee(timeZones, atMs)
    const attempts = earlier.filter((ms) => ms >= startMs && ms < endMs).length
    if (limit === undefined || attempts < limit) return atMs
    atMs = endMs
  }
  throw new Error('the number may never be dialled')
}
