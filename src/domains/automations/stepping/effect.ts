import type { RunFailureCode } from '../../../contract/automation-runs.ts'
import type { CallStep } from '../definition.ts'
import type { LastCall } from './run-facts.ts'

export type WaitReason = 'wait_step' | 'retry_delay' | 'calling_hours' | 'paused'

/** The next move of a run. Each is committed completely, with a row of the run's history, or not at all. */
export type Effect = { readonly reason: string } & (
  | { readonly kind: 'start'; readonly step: string }
  /** To the next step. */
  | { readonly kind: 'move'; readonly to: string; readonly last: LastCall }
  /** Queues the call of the next attempt. */
  | {
      readonly kind: 'call'
      readonly step: CallStep
      readonly attempt: number
      readonly lookMs: number
    }
  /** Begins a wait or a delay that ends at `dueMs`. */
  | {
      readonly kind: 'sleep'
      readonly because: 'wait_step' | 'retry_delay'
      readonly dueMs: number
      readonly lookMs: number
      readonly last: LastCall
    }
  /** Holds the run in its place until hours open, or the Automation is resumed. */
  | {
      readonly kind: 'hold'
      readonly because: 'calling_hours' | 'paused'
      /** Null: until an event wakes it. */
      readonly lookMs: number | null
    }
  /** Its call is queued in open hours or live: nothing to do before the call ends, or `lookMs`. */
  | { readonly kind: 'watch'; readonly lookMs: number }
  | { readonly kind: 'complete' }
  | { readonly kind: 'fail'; readonly code: RunFailureCode; readonly cancelsCall: boolean }
  | { readonly kind: 'cancel'; readonly cancelsCall: boolean }
)

/** The effects after which the run continues at once. */
export const goesOn = (effect: Effect): boolean => effect.kind === 'start' || effect.kind === 'move'
