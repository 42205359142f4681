import { latestVersion } from '../../contract/versions.ts'
import type { Queryable } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import { policyToJson, sandboxPolicy } from './calling-policy.ts'
import { organizationResource, type Organization } from './organization-resource.ts'
import { findSandboxOrganization, insertOrganization } from './organization-store.ts'

const sandboxConcurrency = 100

/**
 * The organization of a fresh installation, which calls all hours and all countries. Made by the first who asks, found by
 * everybody after; `isNew` tells which.
 */
export const ensureSandboxOrganization = async (
  db: Queryable,
): Promise<{ organization: Organization; isNew: boolean }> => {
  const made = await insertOrganization(db, {
    id: newId(),
    name: 'Sandbox',
    defaultVersion: latestVersion,
    publicApiEnabled: true,
    concurrency: sandboxConcurrency,
    policy: policyToJson(sandboxPolicy),
    isSandbox: true,
  })
  const record = made ?? (await findSandboxOrganization(db))
  if (!record) throw new Error('The sandbox organization was neither made nor found.')
  return { organization: organizationResource(record), isNew: made !== undefined }
}
