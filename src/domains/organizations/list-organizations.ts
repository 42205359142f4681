import type { Queryable } from '../../database/database.ts'
import { organizationResource, type Organization } from './organization-resource.ts'
import { listOrganizationRecords } from './organization-store.ts'

/** Every organization of the installation, oldest first. */
export const listOrganizations = async (db: Queryable): Promise<Organization[]> =>
  (await listOrganizationRecords(db)).map(organizationResource)
