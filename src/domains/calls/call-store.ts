import { callStatuses } from '../../contract/states.ts'
import { lookup, sql, type Queryable } from '../../database/database.ts'
import { newestFirst } from '../../database/newest-first.ts'
import { callColumns, type CallRow } from './call-record.ts'
import { wokenFirst, wokenFragment } from './call-fragments.ts'
import type { CallOrigin } from './call-states.ts'

export interface NewCall {
  readonly id: string
  readonly origin: CallOrigin
  readonly contactId: string
  readonly agentId: string
  readonly agentVersion: number
  readonly phoneNumber: string
  readonly laneId: string
  readonly batchId?: string
  readonly automationRunId?: string
}

const insertText = `with ${wokenFragment}
   insert into calls (organization_id, id, origin, contact_id, agent_id, agent_version, phone_number,
                      lane_id, batch_id, automation_run_id)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
    where ${wokenFirst}`

const insertStatement = sql(
  'call-store.insertCall',
  `${insertText}
   returning id, ${callColumns}`,
)

const insertKnownStatement = sql('call-store.insertKnownCall', insertText)

const newCallValues = (organizationId: string, call: NewCall): unknown[] => [
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
]

/** Queues a call that is due at once. Its lane exists (`ensureLane`). */
export const insertCall = async (
  db: Queryable,
  organizationId: string,
  call: NewCall,
): Promise<CallRow> => {
  const row = await db.row<CallRow>(insertStatement, newCallValues(organizationId, call))
  if (!row) throw new Error(`organization ${organizationId} has no dispatch row`)
  return row
}

/** The same for a caller who knows the row beforehand: reading it back is half of what an insert costs us. */
export const insertKnownCall = async (
  db: Queryable,
  organizationId: string,
  call: NewCall,
): Promise<void> => {
  await db.run(insertKnownStatement, newCallValues(organizationId, call))
}

/**
 * What holds for calls that the API shows, in words that are the predicate of no index: where the call's id is given, it is
 * found by that, and not by walking a list.
 */
export const shownFragment = (calls: string): string =>
  `${calls}.origin = 'api' and '' || ${calls}.status <> 'pending'`

const findApiCallStatement = lookup(
  'call-store.findApiCall',
  `select id, ${callColumns}
     from calls
    where organization_id = $1
      and id = $2
      and ${shownFragment('calls')}`,
)

/** A call as the API may show it: one made elsewhere is unknown there (D3). */
export const findApiCall = (
  db: Queryable,
  organizationId: string,
  callId: string,
): Promise<CallRow | undefined> => db.row<CallRow>(findApiCallStatement, [organizationId, callId])

const findCallStatement = sql(
  'call-store.findCall',
  `select id, origin, phone_number, agent_version, ${callColumns}
     from calls
    where organization_id = $1
      and id = $2`,
)

/** A call of any origin, for the parts that are not the API. */
export const findCall = (
  db: Queryable,
  organizationId: string,
  callId: string,
): Promise<
  (CallRow & { origin: CallOrigin; phone_number: string; agent_version: number }) | undefined
> => db.row(findCallStatement, [organizationId, callId])

/** What holds for calls that the API lists, in words that are the predicate of no index. */
const inNoIndex = "'' || origin = 'api' and '' || status <> 'pending'"

/** API-made calls, newest first. Filter values as the contract names them; ids are UUIDs. */
export const listApiCalls = newestFirst<
  CallRow,
  | 'status'
  | 'contact_id'
  | 'agent_id'
  | 'batch_id'
  | 'automation_run_id'
  | 'created_after'
  | 'created_before'
>({
  name: 'call-store.listApiCalls',
  columns: callColumns,
  table: 'calls',
  sortColumn: 'created_at',
  filters: {
    status: 'status = ?',
    contact_id: 'contact_id = ?',
    agent_id: 'agent_id = ?',
    batch_id: 'batch_id = ?',
    automation_run_id: 'automation_run_id = ?',
    created_after: 'created_at >= ?::timestamptz',
    created_before: 'created_at < ?::timestamptz',
  },
  merged: { filter: 'status', values: callStatuses },
  // As the indexes of migrations/0150-list-indexes.sql and 0161-contact-agent-list.sql say it.
  ways: [
    { filter: 'automation_run_id', where: inNoIndex, isNarrow: true },
    { filter: 'batch_id', where: inNoIndex, isNarrow: true },
    {
      filter: 'contact_id',
      and: 'agent_id',
      where: "origin || '' || '' = 'api' and '' || status <> 'pending'",
    },
    { filter: 'contact_id', where: inNoIndex },
    { filter: 'agent_id', where: "origin || '' = 'api' and status <> 'pending'" },
    { where: "origin = 'api' and status <> 'pending'" },
  ],
})

const ownFilters = {
  status: 'status = ?',
  contact_id: 'contact_id = ?',
  agent_id: 'agent_id = ?',
  batch_id: 'batch_id = ?',
} as const

/** Calls that were not made through the API, newest first. */
export const listOwnCalls = newestFirst<CallRow, keyof typeof ownFilters>({
  name: 'call-store.listOwnCalls',
  columns: callColumns,
  table: 'calls',
  sortColumn: 'created_at',
  filters: ownFilters,
  // As the index of migrations/0160-own-lists.sql says it.
  ways: [
    {
      filter: 'batch_id',
      where: "'' || origin <> 'api' and '' || status <> 'pending'",
      isNarrow: true,
    },
    { where: "origin <> 'api' and status <> 'pending'" },
  ],
})
