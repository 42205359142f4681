import type { Call } from '../../contract/calls.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { AnswerStatus, CallStatus } from '../../contract/states.ts'

/** A call's columns for clients. */
export interface CallRow {
  readonly id: string
  readonly status: CallStatus
  readonly answer_status: AnswerStatus | null
  readonly contact_id: string
  readonly agent_id: string
  readonly batch_id: string | null
  readonly automation_run_id: string | null
  readonly outcome: string | null
  readonly outcome_reason: string | null
  readonly summary: string | null
  readonly duration_seconds: number | null
  readonly queued_at: Date
  readonly dialing_at: Date | null
  readonly connected_at: Date | null
  readonly ended_at: Date | null
  readonly cancel_requested_at: Date | null
  readonly cancelled_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Everything but the id. */
export const callColumns = `status, answer_status, contact_id, agent_id, batch_id, automation_run_id,
       outcome, outcome_reason, summary, duration_seconds, queued_at, dialing_at, connected_at, ended_at,
       cancel_requested_at, cancelled_at, created_at, updated_at`

/** The Call of the contract: unset members are omitted (D1). */
export const callResource = (row: CallRow): Call => ({
  id: row.id,
  status: row.status,
  ...(row.answer_status !== null && { answer_status: row.answer_status }),
  contact_id: row.contact_id,
  agent_id: row.agent_id,
  queued_at: formatDateTime(row.queued_at),
  created_at: formatDateTime(row.created_at),
  updated_at: formatDateTime(row.updated_at),
  ...(row.batch_id !== null && { batch_id: row.batch_id }),
  ...(row.automation_run_id !== null && { automation_run_id: row.automation_run_id }),
  ...(row.outcome !== null && { outcome: row.outcome }),
  ...(row.outcome_reason !== null && { outcome_reason: row.outcome_reason }),
  ...(row.summary !== null && { summary: row.summary }),
  ...(row.duration_seconds !== null && { duration_seconds: row.duration_seconds }),
  ...(row.dialing_at && { dialing_at: formatDateTime(row.dialing_at) }),
  ...(row.connected_at && { connected_at: formatDateTime(row.connected_at) }),
  ...(row.ended_at && { ended_at: formatDateTime(row.ended_at) }),
  ...(row.cancel_requested_at && { cancel_requested_at: formatDateTime(row.cancel_requested_at) }),
  ...(row.cancelled_at && { cancelled_at: formatDateTime(row.cancelled_at) }),
})
