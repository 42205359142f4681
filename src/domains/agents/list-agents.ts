import type { ApiHandler } from '../api-handler.ts'
import { agentResource } from './agent-resource.ts'
import { listEligibleAgentRows } from './agent-store.ts'

/** GET /agents: the eligible ones, newest first (D8). */
export const listAgents: ApiHandler<'listAgents'> = async (
  { query: { limit, cursor } },
  { db, organizationId },
) => {
  const page = await listEligibleAgentRows(db, { organizationId, limit, cursor, filters: {} })
  return { data: page.rows.map(agentResource), next: page.next }
}
