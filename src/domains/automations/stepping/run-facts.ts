import type { AutomationStatus } from '../../../contract/automations.ts'
import type { ActiveRunStatus } from '../run-states.ts'
import type { AnswerStatus, CallStatus } from '../../../contract/states.ts'
import type { BranchableField } from '../definition.ts'
import type { Schedule } from '../../../calling-hours/openings.ts'

/** The activity at a step: nothing yet, its call, a wait, a delay before the next attempt. */
export type Phase = 'enter' | 'call' | 'wait' | 'retry'

/** A run's position between two moves. */
export interface RunState {
  readonly status: ActiveRunStatus
  /** Null until the run starts. */
  readonly step: string | null
  readonly phase: Phase
  /** Attempts placed in this visit of the step. */
  readonly attempt: number
  /** Steps visited so far, including this one. */
  readonly stepsExecuted: number
  /** The end of a wait or a delay that has begun; epoch milliseconds. */
  readonly dueMs: number | null
  /** Epoch milliseconds. */
  readonly startedMs: number | null
  /** The values for branches. */
  readonly last: LastCall
}

export interface LastCall {
  readonly outcome: string | null
  readonly answerStatus: AnswerStatus | null
}

/** The call of the current attempt, in its current state. */
export interface CallFacts {
  readonly status: CallStatus
  /** Queued, and not claimed. */
  readonly isWaiting: boolean
  readonly answerStatus: AnswerStatus | null
  readonly outcome: string | null
  readonly wasDialled: boolean
  /** It ended, but its conversation is still being summarized, which may give the outcome. */
  readonly isOutcomePending: boolean
}

/** The environment of the run at this moment. */
export interface RunFacts {
  readonly nowMs: number
  readonly automationStatus: AutomationStatus
  readonly isCancelRequested: boolean
  /** Undefined: the contact no longer exists. */
  readonly contact: ContactFacts | undefined
  /** Whether the agent of the current step may take calls; true if the step has none. */
  readonly isAgentEligible: boolean
  /** Undefined if the current attempt has no call. */
  readonly call: CallFacts | undefined
}

export interface ContactFacts {
  readonly fields: Readonly<Record<BranchableField, string>>
  /** On the do-not-call list, or a destination that the organization does not allow: one sentence. */
  readonly blockedBecause: string | undefined
  /** The possible zones of the callee (D12). */
  readonly timeZones: readonly string[]
  /** The hours in which the callee may be called. */
  readonly schedules: readonly Schedule[]
}
