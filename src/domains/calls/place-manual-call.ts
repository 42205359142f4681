import type { Transaction } from '../../database/database.ts'
import { findOrMakeManualContact } from '../contacts/manual-contact.ts'
import type { CallRow } from './call-record.ts'
import { callsChannel, queueCall } from './queue-call.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

interface ManualCallInput {
  readonly agentId: string
  /** E.164, checked by the caller of this function. */
  readonly phoneNumber: string
}

/**
 * An operator's manual call: the API never shows this call, only its recording (D3). Throws as `queueCall` does.
 */
export const placeManualCall = async (
  tx: Transaction,
  organizationId: OrganizationId,
  { agentId, phoneNumber }: ManualCallInput,
): Promise<CallRow> => {
  const contact = await findOrMakeManualContact(tx, organizationId, phoneNumber)
  const row = await queueCall(tx, organizationId, {
    agentId,
    contactId: contact.id,
    origin: 'manual',
  })
  tx.hintAfterCommit(callsChannel)
  return row
}
