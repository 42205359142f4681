import { isOrganizationId } from './organization-id.ts'
import type { RateLimits } from '../../contract/buckets.ts'
import type { Transaction } from '../../database/database.ts'
import { checkPolicyFile, policyToJson } from './calling-policy.ts'
import { checkConcurrency } from './create-organization.ts'
import { OperatorError } from './operator-error.ts'
import type { RecordingChoice } from './recording-choice.ts'
import { organizationResource, type Organization } from './organization-resource.ts'
import { updateOrganization } from './organization-store.ts'
import { checkQuotas } from './quotas.ts'
import { checkRateLimits } from './rate-allowances.ts'

/** Payload: the id of the organization whose settings changed. Only a hint; the row is authoritative. */
export const organizationsChannel = 'outdial_organizations'

export interface SetOrganizationInput {
  readonly publicApiEnabled?: boolean
  readonly concurrency?: number
  /** A parsed policy file. Replaces the whole policy. */
  readonly policy?: unknown
  readonly rateLimits?: Readonly<Record<string, number>>
  readonly quotas?: Readonly<Record<string, number>>
  /** Days that recordings, transcripts and summaries are kept; 0 keeps them permanently. */
  readonly retentionDays?: number
  /** Counts for calls that are dialled from now on. */
  readonly recording?: RecordingChoice
}

/**
 * Changes what is given and nothing else. API access and rates take effect within a second on every node, a new
 * policy with the next call. Throws `InvalidFileError` for the policy, `OperatorError` for the rest.
 */
export const setOrganization = async (
  tx: Transaction,
  organizationId: string,
  input: SetOrganizationInput,
): Promise<Organization> => {
  const changes = {
    ...(input.publicApiEnabled !== undefined && { publicApiEnabled: input.publicApiEnabled }),
    ...(input.concurrency !== undefined && { concurrency: checkConcurrency(input.concurrency) }),
    ...(input.policy !== undefined && { policy: policyToJson(checkPolicyFile(input.policy)) }),
    ...(input.rateLimits && {
      rateLimits: checkRateLimits(input.rateLimits) satisfies Partial<RateLimits>,
    }),
    ...(input.quotas && { quotas: checkQuotas(input.quotas) }),
    ...(input.retentionDays !== undefined && {
      retentionDays: checkRetentionDays(input.retentionDays),
    }),
    ...(input.recording !== undefined && { recording: input.recording }),
  }
  const record = isOrganizationId(organizationId)
    ? await updateOrganization(tx, organizationId, changes)
    : undefined
  if (!record) throw new OperatorError(`There is no organization ${organizationId}.`)
  tx.hintAfterCommit(organizationsChannel, organizationId)
  return organizationResource(record)
}

const maxRetentionDays = 36_500

const checkRetentionDays = (days: number): number => {
  if (!Number.isInteger(days) || days < 0 || days > maxRetentionDays)
    throw new OperatorError(`Retention must be 1 to ${maxRetentionDays} days, or off.`)
  return days
}
