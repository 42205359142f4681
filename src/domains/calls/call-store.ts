import { callStatuses } from '../../contract/states.ts'
import { lookup, sql, type Queryable } from '../../database/database.ts'
import { newestFirst } from '../../database/newest-first.ts'
import { callColumns, type CallRow } from './call-record.ts'
import type { CallOrigin } from './lifecycle/call-states.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/**
 * The condition for calls that the API shows, worded unlike every index predicate, so that a call is found by its
 * id, and not by scanning a list.
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

/** A call that the API may show: one of another origin is unknown there (D3). */
export const findApiCall = (
  db: Queryable,
  organizationId: OrganizationId,
  callId: string,
): Promise<CallRow | undefined> => db.row<CallRow>(findApiCallStatement, [organizationId, callId])

const findCallStatement = sql(
  'call-store.findCall',
  `select id, origin, phone_number, agent_version, ${callColumns}
     from calls
    where organization_id = $1
      and id = $2`,
)

/** A call of any origin, for the parts outside the API. */
export const findCall = (
  db: Queryable,
  organizationId: OrganizationId,
  callId: string,
): Promise<
  (CallRow & { origin: CallOrigin; phone_number: string; agent_version: number }) | undefined
> => db.row(findCallStatement, [organizationId, callId])

/** As `findCall`, but a pending recipient of a batch is not yet a call. */
export const findPlacedCall: typeof findCall = async (db, organizationId, callId) => {
  const row = await findCall(db, organizationId, callId)
  const status: string | undefined = row?.status
  return status === 'pending' ? undefined : row
}

/** The condition for calls that the API lists, worded unlike every index predicate. */
const inNoIndex = "'' || origin = 'api' and '' || status <> 'pending'"

/** API-made calls, newest first. Filter values are named as in the contract; ids are UUIDs. */
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
  // Worded as the indexes of migrations/0150-list-indexes.sql and 0161-contact-agent-list.sql.
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
  // Worded as the index of migrations/0160-own-lists.sql.
  ways: [
    {
      filter: 'batch_id',
      where: "'' || origin <> 'api' and '' || status <> 'pending'",
      isNarrow: true,
    },
    { where: "origin <> 'api' and status <> 'pending'" },
  ],
})
