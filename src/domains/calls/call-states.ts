import type { CallStatus } from '../../contract/states.ts'

/** Who asked for the call. Only `api` calls are visible through the API (D3). */
export type CallOrigin = 'api' | 'manual' | 'dashboard' | 'cli'

export type TerminalStatus = 'completed' | 'failed' | 'cancelled'

/**
 * Decision D3 as data: from each state, the states that may follow. `dialing → queued` is carrier congestion before any
 * 18x, or an INVITE that provably never left; it is the only backward edge.
 */
export const callTransitions = {
  queued: ['dialing', 'failed', 'cancelled'],
  dialing: ['in_progress', 'completed', 'failed', 'cancelled', 'queued'],
  in_progress: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<CallStatus, readonly CallStatus[]>

/** The states `to` may be entered from, for `update … where status = any($n)`. */
export const statesBefore = (to: CallStatus): CallStatus[] =>
  (Object.keys(callTransitions) as CallStatus[]).filter((from) =>
    (callTransitions[from] as readonly CallStatus[]).includes(to),
  )

/** Whether nothing follows this state. */
export const isTerminal = (status: CallStatus): status is TerminalStatus =>
  callTransitions[status].length === 0
