import type { AutomationRunStatus } from '../../contract/automation-runs.ts'

type TerminalRunStatus = 'completed' | 'failed' | 'cancelled'
export type ActiveRunStatus = Exclude<AutomationRunStatus, TerminalRunStatus>

/**
 * Decision D6 as data: the statuses that may follow each status. A waiting run fails in its place once it is too
 * old or its Automation is gone; it completes only by running.
 */
export const runTransitions = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['waiting', 'completed', 'failed', 'cancelled'],
  waiting: ['running', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<AutomationRunStatus, readonly AutomationRunStatus[]>

/** The statuses from which `to` may be entered or kept, for `update … where status = any($n)`. */
export const runStatusesBefore = (to: AutomationRunStatus): AutomationRunStatus[] =>
  (Object.keys(runTransitions) as AutomationRunStatus[]).filter(
    (from) =>
      (runTransitions[from] as readonly AutomationRunStatus[]).includes(to) ||
      (from === to && isActive(from)),
  )

/** Whether another status may follow. */
export const isActive = (status: AutomationRunStatus): status is ActiveRunStatus =>
  runTransitions[status].length > 0
