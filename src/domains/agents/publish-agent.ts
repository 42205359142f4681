import type { Agent } from '../../contract/agents.ts'
import type { Queryable } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { checkAgentFile } from './agent-definition.ts'
import { agentResource } from './agent-resource.ts'
import { publishAgentVersion } from './agent-store.ts'

/** An agent with the version that was just published. */
export type PublishedAgent = Agent & { readonly version: number }

/**
 * A new version of an agent from its file (parsed JSON). Versions are never changed: calls in the queue and on the line
 * keep theirs. Throws `InvalidFileError`, or `OperatorError` for an unknown or archived agent.
 */
export const publishAgent = async (
  db: Queryable,
  agentId: string,
  file: unknown,
): Promise<PublishedAgent> => {
  const row = await publishAgentVersion(db, agentId, checkAgentFile(file))
  if (!row) throw new OperatorError(`There is no agent ${agentId}, or it is archived.`)
  return { ...agentResource(row), version: row.published_version ?? 0 }
}
