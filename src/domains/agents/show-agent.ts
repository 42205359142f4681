import type { Agent } from '../../contract/agents.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { Queryable } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import type { AgentDefinition } from './agent-definition.ts'
import { agentResource } from './agent-resource.ts'
import { findAgent, findAgentDefinition } from './agent-store.ts'
import { hideSecrets } from './hidden-values.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** An agent for its operator: the definition that new calls get. */
export type ShownAgent = Agent & {
  readonly organization_id: OrganizationId
  /** Of the published version. */
  readonly version: number
  readonly archived_at?: string
} & AgentDefinition

/** Throws `OperatorError` for an unknown agent. Omits the secrets of its tools. */
export const showAgent = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
): Promise<ShownAgent> => {
  const row = await findAgent(db, organizationId, agentId)
  const version = row?.published_version ?? 0
  const definition = row && (await findAgentDefinition(db, organizationId, agentId, version))
  if (!row || !definition) throw new OperatorError(`There is no published agent ${agentId}.`)
  return {
    ...agentResource(row),
    organization_id: organizationId,
    version,
    ...(row.archived_at && { archived_at: formatDateTime(row.archived_at) }),
    ...withoutSecrets(definition),
  }
}

/** Values of headers are usually credentials; a URL may contain a password. */
export const withoutSecrets = (definition: AgentDefinition): AgentDefinition =>
  hideSecrets(definition) as AgentDefinition
