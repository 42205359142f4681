import { trimWhiteSpace, isStorableText } from '../../contract/text.ts'
import { latestVersion } from '../../contract/versions.ts'
import type { Queryable } from '../../database/database.ts'
import { newOrganizationId } from './organization-id.ts'
import { checkPolicyFile, defaultPolicy, policyToJson } from './calling-policy.ts'
import { OperatorError } from './operator-error.ts'
import type { OrganizationMode } from './organization-mode.ts'
import { organizationResource, type Organization } from './organization-resource.ts'
import { insertOrganization } from './organization-store.ts'

const defaultConcurrency = 20
const maxConcurrency = 100_000

interface CreateOrganizationInput {
  readonly name: string
  readonly concurrency?: number
  /** A parsed policy file; the default policy if absent. */
  readonly policy?: unknown
  /** By default sandbox: only an explicit choice may ring phones. */
  readonly mode?: OrganizationMode
}

/**
 * A new organization, pinned to the newest version and with API access (contract, 2026-07-22). Throws `InvalidFileError`
 * for the policy, `OperatorError` for the rest.
 */
export const createOrganization = async (
  db: Queryable,
  { name, concurrency = defaultConcurrency, policy, mode = 'sandbox' }: CreateOrganizationInput,
): Promise<Organization> => {
  const record = await insertOrganization(db, {
    id: newOrganizationId(),
    name: checkName(name, 200),
    defaultVersion: latestVersion,
    publicApiEnabled: true,
    concurrency: checkConcurrency(concurrency),
    policy: policyToJson(policy === undefined ? defaultPolicy : checkPolicyFile(policy)),
    mode,
  })
  return organizationResource(record)
}

/** The name trimmed; throws `OperatorError` unless it has 1 to `maxLength` characters. */
export const checkName = (name: string, maxLength: number): string => {
  const trimmed = trimWhiteSpace(name)
  const length = Array.from(trimmed).length
  if (length < 1 || length > maxLength || !isStorableText(trimmed)) {
    throw new OperatorError(`A name must have 1 to ${maxLength} characters.`)
  }
  return trimmed
}

/** Throws `OperatorError` unless it is a valid number of simultaneous live calls. */
export const checkConcurrency = (concurrency: number): number => {
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > maxConcurrency) {
    throw new OperatorError(`Concurrency must be a whole number from 1 to ${maxConcurrency}.`)
  }
  return concurrency
}
