import type { BatchStatus } from '../../contract/states.ts'

/** Decision D5 as data: the states that may follow each state. */
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

/** The states from which `to` may be entered, for `update … where status = any($n)`. */
export const batchStatesBefore = (to: BatchStatus): BatchStatus[] =>
  (Object.keys(batchTransitions) as BatchStatus[]).filter((from) =>
    (batchTransitions[from] as readonly BatchStatus[]).includes(to),
  )

/** The states from which `start` works, also as resume; any other state is a conflict. */
export const startableStates = ['draft', 'paused'] as const satisfies readonly BatchStatus[]

/** Whether this state is final. */
export const isBatchOver = (status: BatchStatus): boolean => batchTransitions[status].length === 0
