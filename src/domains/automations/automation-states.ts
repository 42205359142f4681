import type { AutomationStatus } from '../../contract/automations.ts'

/**
 * The statuses that may follow each status. A draft or paused Automation takes no runs; an archived one never
 * again.
 */
export const automationTransitions = {
  draft: ['active', 'archived'],
  active: ['paused', 'archived'],
  paused: ['active', 'archived'],
  archived: [],
} as const satisfies Record<AutomationStatus, readonly AutomationStatus[]>

/** Whether an Automation of status `from` may become `to`. */
export const mayBecome = (from: AutomationStatus, to: AutomationStatus): boolean =>
  (automationTransitions[from] as readonly AutomationStatus[]).includes(to)
