import { ApiError, invalidField, notFoundInBody } from '../../contract/api-error.ts'
import { maxScheduleDays, type BatchInput } from '../../contract/batches.ts'
import { keyOf } from '../../contract/principal.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { Transaction } from '../../database/database.ts'
import type { Clock } from '../../runtime/time.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid, newId } from '../../runtime/ids.ts'
import { zonesOfNumber } from '../../numbering/zones-of-number.ts'
import { insertDormantLanes, laneId, type Lane } from '../calls/lane-store.ts'
import { findPlacement, type Placement } from '../calls/placement-store.ts'
import { findPhoneNumbers } from '../contacts/contacts-of-recipients.ts'
import type { PersonInput } from '../contacts/person-input.ts'
import { upsertRecipients } from '../contacts/upsert-recipients.ts'
import { policyOfJson } from '../organizations/calling-policy.ts'
import { unlimitedStorage, type StorageQuotas } from '../organizations/storage-quotas.ts'
import { batchResource, type BatchRow } from './batch-resource.ts'
import { findBatch, insertBatch, type BatchOrigin, type NewBatch } from './batch-store.ts'
import {
  checkDestinations,
  checkOverlap,
  fieldDetails,
  type NamedNumber,
} from './check-recipients.ts'
import { insertPendingCalls, type NewRecipient } from '../calls/lifecycle/insert-pending-calls.ts'

/** POST /batches: a draft; its recipients are upserted with it or not at all (D5). */
export const createBatch: ApiHandler<
  'createBatch',
  { readonly clock: Clock; readonly quotas: StorageQuotas }
> = async ({ body }, { db, organizationId, principal, parts: { clock, quotas } }) =>
  batchResource(await draftBatch(db, clock, organizationId, body, 'api', quotas, keyOf(principal)))

/** The body of POST /batches; recipients of a file may have no identity. */
type DraftInput = Omit<BatchInput, 'recipients'> & {
  readonly recipients?: readonly PersonInput[] | undefined
}

/**
 * A draft, for which no call is made yet. `input` has passed its schema; the rest is checked here, in the order of
 * D9: unknown agent or contacts, times, destinations, a window that never opens, an agent that is not eligible,
 * identity conflicts. Five round trips for any number of recipients.
 */
export const draftBatch = async (
  tx: Transaction,
  clock: Clock,
  organizationId: OrganizationId,
  input: DraftInput,
  origin: BatchOrigin,
  quotas: StorageQuotas = unlimitedStorage,
  apiKeyId?: string,
): Promise<BatchRow> => {
  const [placement, numbers] = await Promise.all([
    findPlacement(tx, organizationId, isUuid(input.agent_id) ? input.agent_id : null, null),
    namedNumbers(tx, organizationId, input),
  ])
  if (!placement) throw new Error(`there is no organization ${organizationId}`)
  const agentVersion = check(input, placement, numbers, clock.now().getTime())
  quotas.take(organizationId, 'recipients', numbers.length)
  quotas.take(organizationId, 'batches', 1)
  const contactIds = input.recipients
    ? await upsertRecipients(tx, organizationId, input.recipients, quotas)
    : (input.contact_ids ?? [])
  const batch = { ...newBatchOf(input), origin, apiKeyId }
  const { lanes, recipients } = inLanes(organizationId, batch, numbers, contactIds)
  const [, , , row] = await Promise.all([
    insertBatch(tx, organizationId, batch),
    insertDormantLanes(tx, organizationId, lanes),
    insertPendingCalls(tx, organizationId, {
      ...batch,
      batchId: batch.id,
      agentVersion,
      recipients,
    }),
    findBatch(tx, organizationId, batch.id, origin),
  ])
  if (!row) throw new Error('A created batch is gone.')
  return row
}

/** Every recipient's number; an unknown contact has an empty one. */
const namedNumbers = async (
  tx: Transaction,
  organizationId: OrganizationId,
  { recipients, contact_ids: contactIds = [] }: DraftInput,
): Promise<NamedNumber[]> => {
  if (recipients) {
    return recipients.map((recipient, index) => ({
      phoneNumber: recipient.phone_number,
      path: `recipients[${index}].phone_number`,
    }))
  }
  const numbers = await findPhoneNumbers(tx, organizationId, contactIds.filter(isUuid))
  return contactIds.map((id, index) => ({
    phoneNumber: numbers.get(id) ?? '',
    path: `contact_ids[${index}]`,
  }))
}

/** The agent's version to pin. */
const check = (
  input: DraftInput,
  placement: Placement,
  numbers: readonly NamedNumber[],
  nowMs: number,
): number => {
  const policy = policyOfJson(placement.policy)
  if (placement.agent_id === null) throw notFoundInBody('agent_id')
  checkContacts(numbers)
  const startMs = startOf(input, nowMs)
  checkDestinations(numbers, policy)
  if (input.calling_window) checkOverlap(numbers, policy, input.calling_window, startMs)
  if (placement.published_version === null || placement.is_archived) {
    throw new ApiError('resource_state_conflict', 'This agent is not published, or archived.')
  }
  return placement.published_version
}

const checkContacts = (numbers: readonly NamedNumber[]): void => {
  const unknown = numbers.filter(({ phoneNumber }) => phoneNumber === '')
  if (unknown.length === 0) return
  throw new ApiError(
    'resource_not_found',
    `${unknown.length} of the contacts are not in your organization.`,
    fieldDetails(unknown, 'not_found'),
  )
}

const startRule = `must be at most ${maxScheduleDays} days ahead`
const maxScheduleMs = maxScheduleDays * 24 * 3_600_000

/** Past or absent: at once (D5). */
const startOf = ({ scheduled_start_at: scheduledStartAt }: DraftInput, nowMs: number): number => {
  const startMs = scheduledStartAt === undefined ? nowMs : Date.parse(scheduledStartAt)
  if (startMs > nowMs + maxScheduleMs)
    throw invalidField('scheduled_start_at', 'too_large', startRule)
  return Math.max(startMs, nowMs)
}

const newBatchOf = (input: DraftInput): Omit<NewBatch, 'origin'> => ({
  id: newId(),
  name: input.name,
  agentId: input.agent_id,
  totalRecipients: (input.recipients ?? input.contact_ids ?? []).length,
  scheduledStartAt: input.scheduled_start_at,
  callingWindow: input.calling_window,
})

/** One lane for each set of possible zones, and each recipient in its lane. */
const inLanes = (
  organizationId: OrganizationId,
  batch: Omit<NewBatch, 'origin'>,
  numbers: readonly NamedNumber[],
  contactIds: readonly string[],
): { readonly lanes: readonly Lane[]; readonly recipients: readonly NewRecipient[] } => {
  const lanes = new Map<string, Lane & { readonly id: string }>()
  const recipients = numbers.map(({ phoneNumber }, index) => {
    const timeZones = zonesOfNumber(phoneNumber)
    const key = timeZones?.join() ?? ''
    const lane = lanes.get(key) ?? newLane(organizationId, batch, timeZones)
    lanes.set(key, lane)
    return { callId: newId(), contactId: contactIds[index] ?? '', phoneNumber, laneId: lane.id }
  })
  return { lanes: [...lanes.values()], recipients }
}

const newLane = (
  organizationId: OrganizationId,
  { id: sourceId, callingWindow }: Omit<NewBatch, 'origin'>,
  timeZones: readonly string[] | undefined,
): Lane & { readonly id: string } => {
  const lane: Lane = { organizationId, kind: 'batch', sourceId, timeZones, callingWindow }
  return { ...lane, id: laneId(lane) }
}
