import type { ApiHandler } from '../../contract/operations.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { agentResource } from './agent-resource.ts'
import { listEligibleAgentRows } from './agent-store.ts'

/** GET /agents: the eligible ones, newest first (D8). */
export const listAgents: ApiHandler<'listAgents', Queryable, Transaction> = async (
  { query: { limit, cursor } },
  { db, organizationId },
) => {
  const page = await listEligibleAgentRows(db, { organizationId, limit, cursor, filters: {} })
  return { data: page.rows.map(agentResource), next: page.next }
}
