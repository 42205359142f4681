import { isOrganizationId } from './organization-id.ts'
import type { RateLimits } from '../../contract/buckets.ts'
import { readCallBackAnswer } from '../../contract/calls-back.ts'
import type { Transaction } from '../../database/database.ts'
import { checkPolicyFile, policyToJson } from './calling-policy.ts'
import { checkConcurrency } from './create-organization.ts'
import { OperatorError } from './operator-error.ts'
import type { RecordingChoice } from './recording-choice.ts'
import { organizationResource, type Organization } from './organization-resource.ts'
import { judgeTransfer } from './judge-transfer.ts'
import { findOrganization, updateOrganization } from './organization-store.ts'
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
  /** As `OUTDIAL_CALLS_BACK` is written; empty: what that says. */
  readonly callsBack?: string
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
    ...(input.callsBack !== undefined && { callsBack: input.callsBack }),
  }
  if (input.callsBack !== undefined) await checkCallsBack(tx, organizationId, input)
  const record = isOrganizationId(organizationId)
    ? await updateOrganization(tx, organizationId, changes)
    : undefined
  if (!record) throw new OperatorError(`There is no organization ${organizationId}.`)
  tx.hintAfterCommit(organizationsChannel, organizationId)
  return organizationResource(record)
}

/** Judged by the policy that is being set, or that stands. */
const checkCallsBack = async (
  tx: Transaction,
  organizationId: string,
  { callsBack = '', policy }: SetOrganizationInput,
): Promise<void> => {
  if (callsBack === '') return
  const read = readCallBackAnswer(callsBack)
  if (typeof read === 'string') throw new OperatorError(`Calls back: ${read}`)
  if (read.kind !== 'forward') return
  const stands = isOrganizationId(organizationId)
    ? (await findOrganization(tx, organizationId))?.policy
    : undefined
  const rules = policy === undefined ? stands : checkPolicyFile(policy)
  const verdict = rules && judgeTransfer(read.to, rules)
  if (verdict !== undefined && 'problem' in verdict)
    throw new OperatorError(`Calls back cannot be forwarded there: ${verdict.problem}`)
}

const maxRetentionDays = 36_500

const checkRetentionDays = (days: number): number => {
  if (!Number.isInteger(days) || days < 0 || days > maxRetentionDays)
    throw new OperatorError(`Retention must be 1 to ${maxRetentionDays} days, or off.`)
  return days
}
