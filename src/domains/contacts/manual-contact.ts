import type { Transaction } from '../../database/database.ts'
import { findContactByNumber, insertManualContact, type ContactRow } from './contact-store.ts'

/** Contacts are never deleted, so the second try finds what beat the first. */
const maxTries = 3

/**
 * Whoever has the number, else a new contact of source `manual_dial` whose identity nobody manages: the first caller to
 * name its number adopts it (D4). A new one is called `name`, or by its number where nobody said whose it is.
 */
export const findOrMakeManualContact = async (
  tx: Transaction,
  organizationId: string,
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
