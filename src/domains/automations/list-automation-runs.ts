import type { ApiHandler } from '../api-handler.ts'
import { isUuid } from '../../runtime/ids.ts'
import { runResource } from './run-resource.ts'
import { listRunRows } from './run-store.ts'

/** GET /automation-runs: newest first. An unknown id matches nothing. */
export const listAutomationRuns: ApiHandler<'listAutomationRuns'> = async (
  { query: { limit, cursor, ...filters } },
  { db, organizationId },
) => {
  const ids = [filters.automation_id, filters.contact_id]
  if (!ids.every((id) => id === undefined || isUuid(id))) return { data: [], next: null }
  const page = await listRunRows(db, { organizationId, limit, cursor, filters })
  return { data: page.rows.map(runResource), next: page.next }
}
