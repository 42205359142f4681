import { latestVersion } from '../../contract/versions.ts'
import type { Queryable } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import { policyToJson, sandboxPolicy } from './calling-policy.ts'
import { organizationResource, type Organization } from './organization-resource.ts'
import { insertFirstOrganization } from './organization-store.ts'

const sandboxConcurrency = 100

/**
 * The sandbox organization of an installation that has none at all; it may call at all hours and all countries, for its
 * calls never leave the machine. Undefined where there is an organization, whoever made it.
 */
export const createFirstOrganization = async (db: Queryable): Promise<Organization | undefined> => {
  const record = await insertFirstOrganization(db, {
    id: newId(),
    name: 'Sandbox',
    defaultVersion: latestVersion,
    publicApiEnabled: true,
    concurrency: sandboxConcurrency,
    policy: policyToJson(sandboxPolicy),
    mode: 'sandbox',
  })
  return record && organizationResource(record)
}
