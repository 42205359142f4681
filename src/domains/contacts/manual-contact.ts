import type { Transaction } from '../../database/database.ts'
import { findContactByNumber, insertManualContact, type ContactRow } from './contact-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** Contacts are never deleted, so the second try finds the winner of the race. */
const maxTries = 3

/**
 * The contact with the number, else a new contact of source `manual_dial` without a managed identity: the first
 * caller to name its number adopts it (D4). A new one gets `name`, or by default its number.
 */
export const findOrMakeManualContact = async (
  tx: Transaction,
  organizationId: OrganizationId,
  phoneNumber: string,
  name: string = phoneNumber,
): Promise<ContactRow> => {
  for (let attempt = 1; attempt <= maxTries; attempt += 1) {
    const contact =
      (await findContactByNumber(tx, organizationId, phoneNumber)) ??
      (await insertManualContact(tx, organizationId, phoneNumber, name))
    if (contact) return contact
  }
  throw new Error('A contact was neither found nor made.')
}
