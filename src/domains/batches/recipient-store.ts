import { sql, type Transaction } from '../../database/database.ts'
import { decisionFragment } from '../calls/call-fragments.ts'
import type { CallOrigin } from '../calls/call-states.ts'

/** The recipients of a batch: rows of calls. */

export interface NewRecipient {
  readonly callId: string
  readonly contactId: string
  readonly phoneNumber: string
  readonly laneId: string
}

export interface RecipientsOfBatch {
  readonly batchId: string
  readonly origin: CallOrigin
  readonly agentId: string
  readonly agentVersion: number
  readonly recipients: readonly NewRecipient[]
}

const insertStatement = sql(
  'recipient-store.insertRecipients',
  `insert into calls (organization_id, id, origin, status, contact_id, agent_id, agent_version, phone_number, batch_id, lane_id)
   select $1, i.id, $2, 'pending', i.contact_id, $3, $4, i.phone_number, $5, i.lane_id
     from unnest($6::uuid[], $7::uuid[], $8::text[], $9::uuid[]) as i (id, contact_id, phone_number, lane_id)`,
)

/** Pending: claimed by nobody, shown to nobody. Their lanes exist. */
export const insertRecipients = async (
  tx: Transaction,
  organizationId: string,
  batch: RecipientsOfBatch,
): Promise<void> => {
  const { recipients } = batch
  await tx.run(insertStatement, [
    organizationId,
    batch.origin,
    batch.agentId,
    batch.agentVersion,
    batch.batchId,
    recipients.map((each) => each.callId),
    recipients.map((each) => each.contactId),
    recipients.map((each) => each.phoneNumber),
    recipients.map((each) => each.laneId),
  ])
}

// A recipient becomes a call now, so it is created now: whoever lists calls by time misses none.
const queueStatement = sql(
  'recipient-store.queueRecipients',
  `update calls
      set status     = 'queued',
          queued_at  = now(),
          not_before = now(),
          created_at = now(),
          updated_at = now()
    where organization_id = $1
      and batch_id = $2
      and status = 'pending'`,
)

/** `pending` → `queued`, all of them in one statement. The caller has woken the organization. */
export const queueRecipients = async (
  tx: Transaction,
  organizationId: string,
  batchId: string,
): Promise<void> => {
  await tx.run(queueStatement, [organizationId, batchId])
}

const cancelStatement = sql(
  'recipient-store.cancelRecipients',
  `update calls
      set status              = 'cancelled',
          answer_status       = 'unknown',
          cancel_requested_at = coalesce(cancel_requested_at, now()),
          cancelled_at        = now(),
          ended_at            = now(),
          lease_token         = null,
          created_at          = case when status = 'pending' then now() else created_at end,
          updated_at          = now(),
          ${decisionFragment({ decision: "'cancelled'", reason: "'Its batch was cancelled.'" })}
    where organization_id = $1
      and batch_id = $2
      and status in ('pending', 'queued')
   returning id`,
)

/**
 * Ends everything of a batch that is not being dialled, claimed calls included: the fence before the INVITE lets none of
 * them through. Answers the ids of the ended calls.
 */
export const cancelRecipients = async (
  tx: Transaction,
  organizationId: string,
  batchId: string,
): Promise<string[]> =>
  (await tx.rows<{ id: string }>(cancelStatement, [organizationId, batchId])).map((row) => row.id)
