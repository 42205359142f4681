import { list, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { ContactRow } from './contact-store.ts'

const findStatement = list(
  'find-contacts.findContacts',
  `select id, source, external_id, name, phone_number, email, company, role, city, country,
          created_at, updated_at
     from find_contacts($1, $2, $3)`,
)

/**
 * The newest contacts of which words begin with each word of `question`: words of the name, the company and the external
 * id, and parts of the number (migrations/0200-contact-search.sql).
 */
export const findContacts = (
  db: Queryable,
  organizationId: OrganizationId,
  question: string,
  most: number,
): Promise<ContactRow[]> => db.rows<ContactRow>(findStatement, [organizationId, question, most])
