import { isUuid } from '../../runtime/ids.ts'
import type { RateLimits } from '../../contract/buckets.ts'
import type { Queryable } from '../../database/database.ts'
import { policyToJson, type CallingPolicyJson } from './calling-policy.ts'
import { OperatorError } from './operator-error.ts'
import { organizationResource, type Organization } from './organization-resource.ts'
import type { RecordingChoice } from './recording-choice.ts'
import { findOrganization } from './organization-store.ts'

/** An organization with all its settings. */
export interface ShownOrganization extends Organization {
  /** Requests per 60 s, where they differ from the defaults. */
  readonly rates: Partial<RateLimits>
  /** In the format of a policy file. */
  readonly policy: CallingPolicyJson
  readonly recording: RecordingChoice
}

/** Throws `OperatorError` if there is no such organization. */
export const showOrganization = async (db: Queryable, id: string): Promise<ShownOrganization> => {
  const record = isUuid(id) ? await findOrganization(db, id) : undefined
  if (!record) throw new OperatorError(`There is no organization ${id}.`)
  return {
    ...organizationResource(record),
    rates: record.rateLimits,
    policy: policyToJson(record.policy),
    recording: record.recording,
  }
}
