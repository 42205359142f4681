import type { CallStatus } from '../../../contract/states.ts'

/** Who asked for the call. Only `api` calls are visible through the API (D3). */
export type CallOrigin = 'api' | 'manual' | 'dashboard' | 'cli'

export type TerminalStatus = 'completed' | 'failed' | 'cancelled'

/** What a row of `calls` may say. `pending` is a recipient of a batch that has not started; no client sees it. */
export type StoredCallStatus = CallStatus | 'pending'

/**
 * Decision D3 as data: from each state, the states that may follow. `dialing → queued` is carrier congestion before any
 * 18x, or an INVITE that provably never left; it is the only backward edge. Every statement that moves a call is in this
 * folder and takes the states that it may leave from here.
 */
export const callTransitions = {
  pending: ['queued', 'cancelled'],
  queued: ['dialing', 'failed', 'cancelled'],
  dialing: ['in_progress', 'completed', 'failed', 'cancelled', 'queued'],
  in_progress: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<StoredCallStatus, readonly CallStatus[]>

const allStates = Object.keys(callTransitions) as StoredCallStatus[]

/** The states `to` may be entered from, for `update … where status = any($n)`. */
export const statesBefore = (to: CallStatus): StoredCallStatus[] =>
  allStates.filter((from) => (callTransitions[from] as readonly CallStatus[]).includes(to))

/** Whether nothing follows this state. */
export const isTerminal = (status: StoredCallStatus): status is TerminalStatus =>
  callTransitions[status].length === 0

/** The states that something still follows. */
export const openStates = allStates.filter((status) => !isTerminal(status))

/** The states of a call whose phone may ring or be answered. */
export const liveStates = ['dialing', 'in_progress'] as const satisfies readonly CallStatus[]

const isLive = (status: StoredCallStatus): boolean =>
  (liveStates as readonly StoredCallStatus[]).includes(status)

/** The states that `to` may be entered from before anything was dialled. */
export const undialledStatesBefore = (to: CallStatus): StoredCallStatus[] =>
  statesBefore(to).filter((from) => !isLive(from))

/** A list of states in the text of a statement: `status in ('pending', 'queued')`. */
export const statusIn = (states: readonly StoredCallStatus[], status = 'status'): string => {
  const [only, ...others] = states.map((state) => `'${state}'`)
  if (only === undefined) throw new Error('a statement that leaves no state')
  return others.length === 0
    ? `${status} = ${only}`
    : `${status} in (${[only, ...others].join(', ')})`
}
