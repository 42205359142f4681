import type { Effect } from './effect.ts'
import type { RunState } from './run-facts.ts'

/** The state after an effect that keeps the run active; `commitMoves` stores it, and the simulator keeps it. */
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
