import type { ApiHandler } from '../api-handler.ts'
import { isUuid } from '../../runtime/ids.ts'
import { callResource } from './call-record.ts'
import { listApiCalls } from './call-store.ts'

/** GET /calls: those made through the API, newest first (D3). An unknown id matches nothing. */
export const listCalls: ApiHandler<'listCalls'> = async ({ query }, { db, organizationId }) => {
  const { limit, cursor, ...filters } = query
  const ids = [filters.contact_id, filters.agent_id, filters.batch_id, filters.automation_run_id]
  if (!ids.every((id) => id === undefined || isUuid(id))) return { data: [], next: null }
  const page = await listApiCalls(db, { organizationId, limit, cursor, filters })
  return { data: page.rows.map(callResource), next: page.next }
}
