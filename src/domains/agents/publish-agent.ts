import type { Agent } from '../../contract/agents.ts'
import type { Queryable } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { checkAgentFile } from './agent-definition.ts'
import { agentResource } from './agent-resource.ts'
import { findAgentOrganization, publishAgentVersion } from './agent-store.ts'
import { checkTransfers } from './check-transfers.ts'

/** An agent with the version that was just published. */
type PublishedAgent = Agent & { readonly version: number }

/**
 * Publishes a new version of an agent from its file (parsed JSON). Versions never change: queued and live calls
 * keep theirs. Throws `InvalidFileError`, or `OperatorError` for an unknown or archived agent.
 */
export const publishAgent = async (
  db: Queryable,
  agentId: string,
  file: unknown,
): Promise<PublishedAgent> => {
  const definition = checkAgentFile(file)
  const organizationId = await findAgentOrganization(db, agentId)
  if (organizationId !== undefined) await checkTransfers(db, organizationId, definition)
  const row = await publishAgentVersion(db, agentId, definition)
  if (!row) throw new OperatorError(`There is no agent ${agentId}, or it is archived.`)
  return { ...agentResource(row), version: row.published_version ?? 0 }
}
