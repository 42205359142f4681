import type { ApiHandler } from '../api-handler.ts'
import type { StorageQuotas } from '../organizations/storage-quotas.ts'
import { contactResource } from './contact-resource.ts'
import { upsertRecipient } from './upsert-recipient.ts'

/** POST /contacts: 201 for a new contact, 200 for an updated or adopted one (D2, D4). */
export const upsertContact: ApiHandler<
  'upsertContact',
  { readonly quotas: StorageQuotas }
> = async ({ body }, { db, organizationId, parts: { quotas } }) => {
  const { contact, isNew } = await upsertRecipient(db, organizationId, body, quotas)
  return { status: isNew ? 201 : 200, body: contactResource(contact) }
}
