import { ApiError, notFoundInBody } from '../../contract/api-error.ts'
import type { Transaction } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import type { CallOrigin } from '../calls/lifecycle/call-states.ts'
import { policyOfJson } from '../organizations/calling-policy.ts'
import {
  describeDestinationProblem,
  destinationProblem,
} from '../organizations/phone-destination.ts'
import {
  findActiveRun,
  findRunPlacement,
  insertRun,
  type NewRun,
  type RunPlacement,
  type RunRow,
} from './run-store.ts'

/** NOTIFY channel: there may be a run to step. Only a hint; polling is authoritative. */
export const runsChannel = 'outdial_runs'

interface RunRequest {
  readonly automationId: string
  readonly contactId: string
  readonly origin: CallOrigin
  /** The key that asks for it. */
  readonly apiKeyId?: string | undefined
}

/** The blocking run may end while it is being checked. */
const maxInsertAttempts = 5

/**
 * Accepts a run into the durable queue, pinned to the published version. Throws the errors for the client (D9):
 * unknown Automation or contact, destination never dialable, Automation not active, number on the do-not-call list,
 * another active run of this contact.
 */
export const queueRun = async (
  tx: Transaction,
  organizationId: OrganizationId,
  { automationId, contactId, origin, apiKeyId }: RunRequest,
): Promise<RunRow> => {
  const placement = await findRunPlacement(tx, organizationId, automationId, contactId)
  if (!placement) throw new Error(`there is no organization ${organizationId}`)
  const accepted = checkPlacement(placement)
  for (let attempt = 1; attempt <= maxInsertAttempts; attempt += 1) {
    const row = await insertRun(tx, organizationId, { ...accepted, id: newId(), origin, apiKeyId })
    if (row) return row
    const existing = await findActiveRun(tx, organizationId, automationId, contactId)
    if (existing !== undefined) throw duplicate(existing)
  }
  throw new Error('runs of one contact came and went too fast')
}

const duplicate = (existingRunId: string): ApiError =>
  new ApiError('duplicate_active_run', 'This contact has an active run of this Automation.', {
    existing_run_id: existingRunId,
  })

const checkPlacement = (
  placement: RunPlacement,
): Pick<NewRun, 'automationId' | 'automationVersion' | 'contactId'> => {
  const { automation_id: automationId, contact_id: contactId } = placement
  const { phone_number: phoneNumber } = placement
  if (automationId === null) throw notFoundInBody('automation_id')
  if (contactId === null || phoneNumber === null) throw notFoundInBody('contact_id')
  const problem = destinationProblem(phoneNumber, policyOfJson(placement.policy))
  if (problem) throw new ApiError('unsupported_destination', describeDestinationProblem(problem))
  if (placement.automation_status !== 'active') {
    const message = `This Automation is ${placement.automation_status}; a run needs an active one.`
    throw new ApiError('resource_state_conflict', message)
  }
  if (placement.is_on_do_not_call_list) {
    throw new ApiError(
      'recipient_blocked_by_policy',
      'This number is on your organization’s do-not-call list.',
    )
  }
  return { automationId, automationVersion: placement.published_version, contactId }
}
