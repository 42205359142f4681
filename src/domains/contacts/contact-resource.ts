import type { Contact } from '../../contract/contacts.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { ContactRow } from './contact-store.ts'

/** The contact for clients: unset fields are omitted (D1). */
export const contactResource = (row: ContactRow): Contact => ({
  id: row.id,
  ...(row.external_id !== null && { external_id: row.external_id }),
  source: row.source,
  name: row.name,
  phone_number: row.phone_number,
  ...(row.email !== null && { email: row.email }),
  ...(row.company !== null && { company: row.company }),
  ...(row.role !== null && { role: row.role }),
  ...(row.city !== null && { city: row.city }),
  ...(row.country !== null && { country: row.country }),
  created_at: formatDateTime(row.created_at),
  updated_at: formatDateTime(row.updated_at),
})
