import type { Agent } from '../../contract/agents.ts'
import type { Queryable } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { checkAgentFile, type AgentDefinition } from './agent-definition.ts'
import { agentResource } from './agent-resource.ts'
import {
  findAgent,
  findAgentDefinition,
  findAgentOrganization,
  publishAgentVersion,
} from './agent-store.ts'
import { checkInOrganization } from './check-in-organization.ts'
import { withKeptSecrets } from './hidden-values.ts'

/** An agent with the version that was just published. */
type PublishedAgent = Agent & { readonly version: number }

interface PublishOptions {
  /** The agent's draft: hidden values may be kept in it. */
  readonly draft?: unknown
  /** The older version that is published again. */
  readonly restoredVersion?: number
}

/**
 * Publishes a new version of an agent from its file (parsed JSON). Versions never change: queued and live calls
 * keep theirs. Hidden values are those of the draft, else of the published version. Throws `InvalidFileError`, or
 * `OperatorError` for an unknown or archived agent.
 */
export const publishAgent = async (
  db: Queryable,
  agentId: string,
  file: unknown,
  { draft, restoredVersion }: PublishOptions = {},
): Promise<PublishedAgent> => {
  const organizationId = await findAgentOrganization(db, agentId)
  const published = organizationId && (await findPublished(db, organizationId, agentId))
  const definition = checkAgentFile([draft, published].reduce(withKeptSecrets, file))
  if (organizationId !== undefined) await checkInOrganization(db, organizationId, definition)
  const row = await publishAgentVersion(db, agentId, definition, restoredVersion)
  if (!row) throw new OperatorError(`There is no agent ${agentId}, or it is archived.`)
  return { ...agentResource(row), version: row.published_version ?? 0 }
}

/** The definition that new calls get, if any. */
export const findPublished = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
): Promise<AgentDefinition | undefined> => {
  const row = await findAgent(db, organizationId, agentId)
  return findAgentDefinition(db, organizationId, agentId, row?.published_version ?? 0)
}
