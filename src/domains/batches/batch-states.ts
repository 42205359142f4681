import type { BatchStatus } from '../../contract/states.ts'

/** Decision D5 as data: from each state, the states that may follow. */
export const batchTransitions = {
  draft: ['scheduled', 'queued', 'cancelled'],
  scheduled: ['queued', 'paused', 'cancelled'],
  queued: ['in_progress', 'paused', 'completed', 'failed', 'cancelled'],
  in_progress: ['paused', 'completed', 'failed', 'cancelled'],
  paused: ['scheduled', 'queued', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<BatchStatus, readonly BatchStatus[]>

/** The states `to` may be entered from, for `update … where status = any($n)`. */
export const batchStatesBefore = (to: BatchStatus): BatchStatus[] =>
  (Object.keys(batchTransitions) as BatchStatus[]).filter((from) =>
    (batchTransitions[from] as readonly BatchStatus[]).includes(to),
  )

/** What `start` is taken from, as it is also the resume; from any other state it is a conflict. */
export const startableStates = ['draft', 'paused'] as const satisfies readonly BatchStatus[]

/** Whether nothing follows this state. */
export const isBatchOver = (status: BatchStatus): boolean => batchTransitions[status].length === 0
