import { sql, type Transaction } from '../../../database/database.ts'
import type { CallOrigin } from './call-states.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'

export interface NewRecipient {
  readonly callId: string
  readonly contactId: string
  readonly phoneNumber: string
  readonly laneId: string
}

interface RecipientsOfBatch {
  readonly batchId: string
  readonly origin: CallOrigin
  readonly agentId: string
  readonly agentVersion: number
  readonly recipients: readonly NewRecipient[]
}

const insertStatement = sql(
  'insert-pending-calls.insert',
  `insert into calls (organization_id, id, origin, status, contact_id, agent_id, agent_version, phone_number, batch_id, lane_id)
   select $1, i.id, $2, 'pending', i.contact_id, $3, $4, i.phone_number, $5, i.lane_id
     from unnest($6::uuid[], $7::uuid[], $8::text[], $9::uuid[]) as i (id, contact_id, phone_number, lane_id)`,
)

/** Pending: not claimable, not shown. Their lanes exist. */
export const insertPendingCalls = async (
  tx: Transaction,
  organizationId: OrganizationId,
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
