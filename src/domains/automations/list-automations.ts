import type { ApiHandler } from '../api-handler.ts'
import { automationResource } from './automation-resource.ts'
import { listAutomationRows } from './automation-store.ts'

/** GET /automations: newest first; an unknown status matches nothing. */
export const listAutomations: ApiHandler<'listAutomations'> = async (
  { query: { limit, cursor, ...filters } },
  { db, organizationId },
) => {
  const page = await listAutomationRows(db, { organizationId, limit, cursor, filters })
  return { data: page.rows.map(automationResource), next: page.next }
}
