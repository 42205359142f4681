import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import { contactResource } from './contact-resource.ts'
import { findContact } from './contact-store.ts'

/** GET /contacts/{contact_id}. */
export const getContact: ApiHandler<'getContact'> = async ({ params }, { db, organizationId }) => {
  const contact = await findContact(db, organizationId, params.contact_id)
  if (!contact) throw notFound()
  return contactResource(contact)
}
