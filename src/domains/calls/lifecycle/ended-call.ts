import type { AnswerStatus } from '../../../contract/states.ts'
import type { CallOrigin, StoredCallStatus, TerminalStatus } from './call-states.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'

/** A call that has just reached its terminal state, in the transaction that did it. */
export interface EndedCall<Learned = unknown> {
  readonly organizationId: OrganizationId
  readonly callId: string
  readonly contactId: string
  readonly agentId: string
  readonly phoneNumber: string
  readonly origin: CallOrigin
  readonly status: TerminalStatus
  readonly answerStatus: AnswerStatus
  readonly batchId: string | null
  readonly automationRunId: string | null
  /** Null if the call was not dialled: then it has no words either. */
  readonly dialledAt: Date | null
  /** Null if the call was not answered. */
  readonly connectedAt: Date | null
  readonly endedAt: Date
  /** The findings of the live call, if it wrote this end. */
  readonly learned?: Learned
}

/** The columns that every statement that ends calls returns. A row whose `status` is not terminal is no end. */
export const endedColumns = `id, contact_id, agent_id, phone_number, origin, status, answer_status, batch_id,
               automation_run_id, dialing_at, connected_at, ended_at`

/** Those columns. */
export interface EndedRow {
  readonly id: string
  readonly contact_id: string
  readonly agent_id: string
  readonly phone_number: string
  readonly origin: CallOrigin
  readonly status: StoredCallStatus
  readonly answer_status: AnswerStatus
  readonly batch_id: string | null
  readonly automation_run_id: string | null
  readonly dialing_at: Date | null
  readonly connected_at: Date | null
  readonly ended_at: Date
}

export const endedCall = (
  organizationId: OrganizationId,
  row: EndedRow & { readonly status: TerminalStatus },
): EndedCall<never> => ({
  organizationId,
  callId: row.id,
  contactId: row.contact_id,
  agentId: row.agent_id,
  phoneNumber: row.phone_number,
  origin: row.origin,
  status: row.status,
  answerStatus: row.answer_status,
  batchId: row.batch_id,
  automationRunId: row.automation_run_id,
  dialledAt: row.dialing_at,
  connectedAt: row.connected_at,
  endedAt: row.ended_at,
})
