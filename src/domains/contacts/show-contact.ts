import type { Contact } from '../../contract/contacts.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { zonesOfNumber } from '../../numbering/zones-of-number.ts'
import { isOnDoNotCallList } from '../organizations/do-not-call.ts'
import { contactResource } from './contact-resource.ts'
import type { ContactRow } from './contact-store.ts'

/** A contact as operators see it: with the do-not-call list, and where the callee may be. */
export const showContact = async (
  db: Queryable,
  organizationId: OrganizationId,
  row: ContactRow,
): Promise<Contact & { readonly is_blocked: boolean; readonly time_zones: string[] }> => ({
  ...contactResource(row),
  is_blocked: await isOnDoNotCallList(db, organizationId, row.phone_number),
  time_zones: [...(zonesOfNumber(row.phone_number) ?? [])],
})
