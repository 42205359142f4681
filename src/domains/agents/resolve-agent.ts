import { ApiError, notFoundInBody } from '../../contract/api-error.ts'
import type { Queryable } from '../../database/database.ts'
import { findAgent, type AgentRow } from './agent-store.ts'

/** An agent that may take new calls, in the version they pin. */
export interface EligibleAgent {
  readonly id: string
  readonly version: number
}

/** The agent if it is published and not archived. */
export const eligibleAgent = (row: AgentRow): EligibleAgent | undefined =>
  row.published_version === null || row.archived_at !== null
    ? undefined
    : { id: row.id, version: row.published_version }

/** The agent a body names: unknown → 404 with the field, not eligible → 409 `resource_state_conflict` (D8). */
export const resolveAgent = async (
  db: Queryable,
  organizationId: string,
  agentId: string,
  path = 'agent_id',
): Promise<EligibleAgent> => {
  const row = await findAgent(db, organizationId, agentId)
  if (!row) throw notFoundInBody(path)
  const agent = eligibleAgent(row)
  if (!agent) {
    throw new ApiError('resource_state_conflict', 'This agent is not published, or is archived.')
  }
  return agent
}
