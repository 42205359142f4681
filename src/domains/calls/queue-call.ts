import { ApiError, notFoundInBody } from '../../contract/api-error.ts'
import type { Transaction } from '../../database/database.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid, newId } from '../../runtime/ids.ts'
import { policyOfJson } from '../organizations/calling-policy.ts'
import {
  describeDestinationProblem,
  destinationProblem,
} from '../organizations/phone-destination.ts'
import type { CallRow } from './call-record.ts'
import type { CallOrigin } from './lifecycle/call-states.ts'
import { zonesOfNumber } from '../../numbering/zones-of-number.ts'
import { insertKnownCall } from './lifecycle/insert-call.ts'
import { ensureLane, laneId, type Lane } from './lane-store.ts'
import { findPlacement, type Placement } from './placement-store.ts'

/** NOTIFY channel: there may be a call to claim. Only a hint; polling is authoritative. */
export const callsChannel = 'outdial_calls'

interface CallRequest {
  readonly agentId: string
  readonly contactId: string
  readonly origin: CallOrigin
  /** The key that asks for it. */
  readonly apiKeyId?: string | undefined
}

/**
 * Accepts an immediate call into the durable queue, in two round trips. Throws the errors for the client (D9):
 * unknown agent or contact, agent not eligible, destination never dialable, number on the do-not-call list. Full
 * capacity and closed hours are not errors: the call waits.
 */
export const queueCall = async (
  tx: Transaction,
  organizationId: OrganizationId,
  request: CallRequest,
): Promise<CallRow> => {
  const placement = await findPlacement(
    tx,
    organizationId,
    uuidOrNull(request.agentId),
    uuidOrNull(request.contactId),
  )
  if (!placement) throw new Error(`there is no organization ${organizationId}`)
  const accepted = checkPlacement(placement)
  const lane = immediateLane(organizationId, accepted.phoneNumber)
  const id = laneId(lane)
  const call = {
    ...accepted,
    id: newId(),
    origin: request.origin,
    apiKeyId: request.apiKeyId,
    laneId: id,
  }
  if (!knownLanes.has(id)) tx.withCommit(makeLane(tx, id, lane))
  tx.withCommit(insertKnownCall(tx, organizationId, call), () => knownLanes.delete(id))
  return queuedRow(call, placement.placed_at)
}

/** The row as the database will write it, known in advance. */
const queuedRow = (
  { id, contactId, agentId }: AcceptedPlacement & { readonly id: string },
  placedAt: Date,
): CallRow => ({
  id,
  status: 'queued',
  answer_status: null,
  contact_id: contactId,
  agent_id: agentId,
  batch_id: null,
  automation_run_id: null,
  outcome: null,
  outcome_reason: null,
  summary: null,
  duration_seconds: null,
  queued_at: placedAt,
  dialing_at: null,
  connected_at: null,
  ended_at: null,
  cancel_requested_at: null,
  cancelled_at: null,
  created_at: placedAt,
  updated_at: placedAt,
})

/**
 * Lanes of immediate calls are never removed, so a committed one stays, and a call costs one statement less. A
 * database restored to an earlier time lacks some: the first call that notices drops the lane from this cache, so
 * that the next call creates it again. Bounded, because organizations may be many although zones of callees are
 * few.
 */
const maxKnownLanes = 10_000
const knownLanes = new BoundedMap<string, true>({ maxSize: maxKnownLanes })

const makeLane = async (tx: Transaction, id: string, lane: Lane): Promise<void> => {
  tx.afterCommit(() => knownLanes.set(id, true))
  await ensureLane(tx, lane)
}

const uuidOrNull = (id: string): string | null => (isUuid(id) ? id : null)

interface AcceptedPlacement {
  readonly agentId: string
  readonly agentVersion: number
  readonly contactId: string
  readonly phoneNumber: string
}

const checkPlacement = (placement: Placement): AcceptedPlacement => {
  const { agent_id: agentId, published_version: agentVersion } = placement
  const { contact_id: contactId, phone_number: phoneNumber } = placement
  if (agentId === null) throw notFoundInBody('agent_id')
  if (contactId === null || phoneNumber === null) throw notFoundInBody('contact_id')
  checkDestination(phoneNumber, placement)
  if (agentVersion === null || placement.is_archived) {
    throw new ApiError('resource_state_conflict', 'This agent is not published, or archived.')
  }
  if (placement.is_on_do_not_call_list) {
    throw new ApiError(
      'recipient_blocked_by_policy',
      'This number is on your organization’s do-not-call list.',
    )
  }
  return { agentId, agentVersion, contactId, phoneNumber }
}

const checkDestination = (phoneNumber: string, { policy }: Placement): void => {
  const problem = destinationProblem(phoneNumber, policyOfJson(policy))
  if (problem) throw new ApiError('unsupported_destination', describeDestinationProblem(problem))
}

const immediateLane = (organizationId: OrganizationId, phoneNumber: string): Lane => ({
  organizationId,
  kind: 'immediate',
  sourceId: organizationId,
  timeZones: zonesOfNumber(phoneNumber),
})
