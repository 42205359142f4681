import type { Batch, CallingWindow } from '../../contract/batches.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { BatchStatus } from '../../contract/states.ts'

/** A batch with its counters, read by one statement at one moment. */
export interface BatchRow {
  readonly id: string
  readonly status: BatchStatus
  readonly name: string
  readonly agent_id: string
  readonly total_recipients: number
  readonly pending_recipients: number
  readonly queued_recipients: number
  readonly in_progress_recipients: number
  readonly completed_recipients: number
  readonly failed_recipients: number
  readonly cancelled_recipients: number
  readonly answered_recipients: number
  readonly no_answer_recipients: number
  readonly busy_recipients: number
  readonly scheduled_start_at: Date | null
  readonly calling_window: CallingWindow | null
  readonly started_at: Date | null
  readonly paused_at: Date | null
  readonly completed_at: Date | null
  readonly cancelled_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** The Batch of the contract: unset members are omitted (D1). */
export const batchResource = (row: BatchRow): Batch => ({
  id: row.id,
  status: row.status,
  name: row.name,
  agent_id: row.agent_id,
  total_recipients: row.total_recipients,
  pending_recipients: row.pending_recipients,
  queued_recipients: row.queued_recipients,
  in_progress_recipients: row.in_progress_recipients,
  completed_recipients: row.completed_recipients,
  failed_recipients: row.failed_recipients,
  cancelled_recipients: row.cancelled_recipients,
  answered_recipients: row.answered_recipients,
  no_answer_recipients: row.no_answer_recipients,
  busy_recipients: row.busy_recipients,
  created_at: formatDateTime(row.created_at),
  updated_at: formatDateTime(row.updated_at),
  ...(row.scheduled_start_at && { scheduled_start_at: formatDateTime(row.scheduled_start_at) }),
  ...(row.calling_window && { calling_window: windowOf(row.calling_window) }),
  ...(row.started_at && { started_at: formatDateTime(row.started_at) }),
  ...(row.paused_at && { paused_at: formatDateTime(row.paused_at) }),
  ...(row.completed_at && { completed_at: formatDateTime(row.completed_at) }),
  ...(row.cancelled_at && { cancelled_at: formatDateTime(row.cancelled_at) }),
})

/** In the contract's order, because jsonb has its own. */
const windowOf = (window: CallingWindow): CallingWindow => ({
  time_zone: window.time_zone,
  weekdays: window.weekdays,
  start_time: window.start_time,
  end_time: window.end_time,
})
