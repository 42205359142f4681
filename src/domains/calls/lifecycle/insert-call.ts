import { sql, type Queryable } from '../../../database/database.ts'
import { callColumns, type CallRow } from '../call-record.ts'
import { wokenFirst, wokenFragment } from './call-fragments.ts'
import type { CallOrigin } from './call-states.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'

interface NewCall {
  readonly id: string
  readonly origin: CallOrigin
  readonly contactId: string
  readonly agentId: string
  readonly agentVersion: number
  readonly phoneNumber: string
  readonly laneId: string
  readonly batchId?: string
  readonly automationRunId?: string
  /** The key that asked for it. */
  readonly apiKeyId?: string | undefined
}

const insertText = `with ${wokenFragment}
   insert into calls (organization_id, id, origin, contact_id, agent_id, agent_version, phone_number,
                      lane_id, batch_id, automation_run_id, api_key_id)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
    where ${wokenFirst}`

const insertStatement = sql(
  'insert-call.insertCall',
  `${insertText}
   returning id, ${callColumns}`,
)

const insertKnownStatement = sql('insert-call.insertKnownCall', insertText)

const newCallValues = (organizationId: OrganizationId, call: NewCall): unknown[] => [
  organizationId,
  call.id,
  call.origin,
  call.contactId,
  call.agentId,
  call.agentVersion,
  call.phoneNumber,
  call.laneId,
  call.batchId ?? null,
  call.automationRunId ?? null,
  call.apiKeyId ?? null,
]

/** Queues a call that is due at once. Its lane exists (`ensureLane`). */
export const insertCall = async (
  db: Queryable,
  organizationId: OrganizationId,
  call: NewCall,
): Promise<CallRow> => {
  const row = await db.row<CallRow>(insertStatement, newCallValues(organizationId, call))
  if (!row) throw new Error(`organization ${organizationId} has no dispatch row`)
  return row
}

/** The same for a caller who knows the row in advance: reading it back is half of the cost of an insert. */
export const insertKnownCall = async (
  db: Queryable,
  organizationId: OrganizationId,
  call: NewCall,
): Promise<void> => {
  await db.run(insertKnownStatement, newCallValues(organizationId, call))
}
