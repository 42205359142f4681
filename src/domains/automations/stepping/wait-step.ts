import type { WaitStep } from '../definition.ts'
import { addDuration, nextLocalTime } from '../../../calling-hours/local-time.ts'
import type { Effect } from './effect.ts'
import type { LastCall, RunFacts, RunState } from './run-facts.ts'
import { expiryMs } from './run-limits.ts'

/** A wait that begins, goes on, or is over. */
export const inWait = (step: WaitStep, state: RunState, facts: RunFacts): Effect => {
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

/** A wait or a delay; the run also wakes to expire. */
export const sleepUntil = (
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
