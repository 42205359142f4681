import type { AutomationRun } from '../../contract/automation-runs.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { RunRow } from './run-store.ts'

/** The run for clients and commands: unset members are omitted (D1). */
export const runResource = (row: RunRow): AutomationRun => ({
  id: row.id,
  status: row.status,
  automation_id: row.automation_id,
  contact_id: row.contact_id,
  input: {},
  queued_at: formatDateTime(row.queued_at),
  created_at: formatDateTime(row.created_at),
  updated_at: formatDateTime(row.updated_at),
  ...(row.failure_code !== null && { failure_code: row.failure_code }),
  ...(row.started_at && { started_at: formatDateTime(row.started_at) }),
  ...(row.completed_at && { completed_at: formatDateTime(row.completed_at) }),
  ...(row.cancelled_at && { cancelled_at: formatDateTime(row.cancelled_at) }),
})
