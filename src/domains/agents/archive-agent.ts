import type { Agent } from '../../contract/agents.ts'
import type { Queryable } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { agentResource } from './agent-resource.ts'
import { archiveAgentRow } from './agent-store.ts'

/** Takes an agent out of use for new calls; its existing calls go on. Throws `OperatorError` for an unknown one. */
export const archiveAgent = async (db: Queryable, agentId: string): Promise<Agent> => {
  const row = await archiveAgentRow(db, agentId)
  if (!row) throw new OperatorError(`There is no agent ${agentId}.`)
  return agentResource(row)
}
