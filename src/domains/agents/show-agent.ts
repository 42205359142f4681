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

/**
 * The agent file of a version, by default the published one, without the secrets of its tools. Throws
 * `OperatorError` for an unknown agent or version.
 */
export const exportAgent = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
  version: string | undefined,
): Promise<AgentDefinition> => {
  const row = await findAgent(db, organizationId, agentId)
  const wanted = version === undefined ? (row?.published_version ?? 0) : readVersion(version)
  const definition = row && (await findAgentDefinition(db, organizationId, agentId, wanted))
  if (!definition)
    throw new OperatorError(`There is no version ${version ?? wanted} of an agent ${agentId}.`)
  return withoutSecrets(definition)
}

/** PostgreSQL's integers; 0 is no version. */
const readVersion = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0)

/** Values of headers are usually credentials; a URL may contain a password. */
export const withoutSecrets = (definition: AgentDefinition): AgentDefinition =>
  hideSecrets(definition) as AgentDefinition
