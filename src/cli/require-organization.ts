import { isUuid } from '../runtime/ids.ts'
import type { Queryable } from '../database/database.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import {
  findOrganization,
  type OrganizationRecord,
} from '../domains/organizations/organization-store.ts'

/** The organization a command names; throws `OperatorError` when there is none. */
export const requireOrganization = async (
  db: Queryable,
  id: string,
): Promise<OrganizationRecord> => {
  const organization = isUuid(id) ? await findOrganization(db, id) : undefined
  if (!organization)
    throw new OperatorError(`There is no organization ${id}. \`outdial org list\` names them.`)
  return organization
}
