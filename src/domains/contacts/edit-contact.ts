import type { ContactEdit } from '../../contract/console/contacts.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Transaction } from '../../database/database.ts'
import { sqlStateOf } from '../../database/errors.ts'
import { isUuid } from '../../runtime/ids.ts'
import { findContact, findNumberHolder, type ContactRow } from './contact-store.ts'
import { identityConflict } from './identity-conflict.ts'

const uniqueViolation = '23505'

const editStatement = sql(
  'edit-contact.editContact',
  `update contacts
      set name         = coalesce($3, name),
          phone_number = coalesce($4, phone_number),
          email        = coalesce($5, email),
          company      = coalesce($6, company),
          role         = coalesce($7, role),
          city         = coalesce($8, city),
          country      = coalesce($9, country),
          updated_at   = now()
    where organization_id = $1
      and id = $2`,
)

/**
 * Changes the members that are given, as a second POST /contacts would; the identity stays. Undefined: there is no such
 * contact. Throws `contact_identity_conflict` where the number belongs to another.
 */
export const editContact = async (
  tx: Transaction,
  organizationId: OrganizationId,
  contactId: string,
  change: ContactEdit,
): Promise<ContactRow | undefined> => {
  if (!isUuid(contactId)) return undefined
  const before = await findContact(tx, organizationId, contactId)
  if (!before) return undefined
  const input = { source: before.source, external_id: before.external_id }
  const { phone_number: number } = change
  if (number !== undefined && number !== before.phone_number) {
    const holder = await findNumberHolder(tx, organizationId, number)
    if (holder) throw identityConflict({ input, holder })
  }
  const { name, email, company, role, city, country } = change
  const values = [name, number, email, company, role, city, country].map((each) => each ?? null)
  try {
    await tx.run(editStatement, [organizationId, contactId, ...values])
  } catch (error) {
    if (sqlStateOf(error) === uniqueViolation) throw identityConflict({ input, cause: error })
    throw error
  }
  return findContact(tx, organizationId, contactId)
}
