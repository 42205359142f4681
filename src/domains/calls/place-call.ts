import type { ApiHandler } from '../../contract/operations.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { upsertRecipient } from '../contacts/upsert-recipient.ts'
import { unlimitedStorage, type StorageQuotas } from '../organizations/storage-quotas.ts'
import { callResource } from './call-record.ts'
import { callsChannel, queueCall } from './queue-call.ts'

/** Sends a hint to the dispatchers. */
export type SendHint = (channel: string, payload?: string) => void

/** POST /calls: an agent and a known contact, or a recipient that is upserted in the same transaction (D3). */
export const createPlaceCall =
  (
    hint: SendHint,
    quotas: StorageQuotas = unlimitedStorage,
  ): ApiHandler<'placeCall', Queryable, Transaction> =>
  async ({ body }, { db, organizationId }) => {
    const contactId = body.recipient
      ? (await upsertRecipient(db, organizationId, body.recipient, quotas)).contact.id
      : (body.contact_id ?? '')
    const row = await queueCall(db, organizationId, {
      agentId: body.agent_id,
      contactId,
      origin: 'api',
    })
    db.afterCommit(() => hint(callsChannel))
    return callResource(row)
  }
