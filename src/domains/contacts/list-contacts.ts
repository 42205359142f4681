import type { ApiHandler } from '../api-handler.ts'
import { contactResource } from './contact-resource.ts'
import { listContactRows } from './contact-store.ts'

/** GET /contacts: newest first. */
export const listContacts: ApiHandler<'listContacts'> = async (
  { query },
  { db, organizationId },
) => {
  const { limit, cursor, ...filters } = query
  const page = await listContactRows(db, { organizationId, limit, cursor, filters })
  return { data: page.rows.map(contactResource), next: page.next }
}
