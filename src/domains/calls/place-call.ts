import { keyOf } from '../../contract/principal.ts'
import type { ApiHandler } from '../api-handler.ts'
import { upsertRecipient } from '../contacts/upsert-recipient.ts'
import type { StorageQuotas } from '../organizations/storage-quotas.ts'
import { callResource } from './call-record.ts'
import { callsChannel, queueCall } from './queue-call.ts'

/** POST /calls: an agent and a known contact, or a recipient that is upserted in the same transaction (D3). */
export const placeCall: ApiHandler<'placeCall', { readonly quotas: StorageQuotas }> = async (
  { body },
  { db, organizationId, principal, parts: { quotas } },
) => {
  const contactId = body.recipient
    ? (await upsertRecipient(db, organizationId, body.recipient, quotas)).contact.id
    : (body.contact_id ?? '')
  const row = await queueCall(db, organizationId, {
    agentId: body.agent_id,
    contactId,
    origin: 'api',
    apiKeyId: keyOf(principal),
  })
  db.hintAfterCommit(callsChannel)
  return callResource(row)
}
