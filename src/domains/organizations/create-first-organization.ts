import { latestVersion } from '../../contract/versions.ts'
import type { Queryable } from '../../database/database.ts'
import { newOrganizationId } from './organization-id.ts'
import { policyToJson, sandboxPolicy } from './calling-policy.ts'
import { organizationResource, type Organization } from './organization-resource.ts'
import { insertFirstOrganization } from './organization-store.ts'

const sandboxConcurrency = 100

/**
 * The sandbox organization of an installation without organizations. It may call at all hours and all countries,
 * because its calls never leave the machine. Undefined if any organization exists.
 */
export const createFirstOrganization = async (db: Queryable): Promise<Organization | undefined> => {
  const record = await insertFirstOrganization(db, {
    id: newOrganizationId(),
    name: 'Sandbox',
    defaultVersion: latestVersion,
    publicApiEnabled: true,
    concurrency: sandboxConcurrency,
    policy: policyToJson(sandboxPolicy),
    mode: 'sandbox',
  })
  return record && organizationResource(record)
}
