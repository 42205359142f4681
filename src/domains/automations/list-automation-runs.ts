import type { ApiHandler } from '../../contract/operations.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { isUuid } from '../../runtime/ids.ts'
import { runResource } from './run-resource.ts'
import { listRunRows } from './run-store.ts'

/** GET /automation-runs: newest first. An id that is none of ours matches nothing. */
export const listAutomationRuns: ApiHandler<'listAutomationRuns', Queryable, Transaction> = async (
  { query: { limit, cursor, ...filters } },
  { db, organizationId },
) => {
  const ids = [filters.automation_id, filters.contact_id]
  if (!ids.every((id) => id === undefined || isUuid(id))) return { data: [], next: null }
  const page = await listRunRows(db, { organizationId, limit, cursor, filters })
  return { data: page.rows.map(runResource), next: page.next }
}
