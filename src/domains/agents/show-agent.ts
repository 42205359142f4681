import type { Agent } from '../../contract/agents.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { Queryable } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import type { AgentDefinition } from './agent-definition.ts'
import { agentResource } from './agent-resource.ts'
import { findAgent, findAgentDefinition } from './agent-store.ts'
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

const hidden = '(hidden)'

/** Values of headers are usually credentials; a URL may contain a password. */
export const withoutSecrets = (definition: AgentDefinition): AgentDefinition => ({
  ...definition,
  ...(definition.tools && {
    tools: definition.tools.map((tool) => {
      if ('builtin' in tool) return tool
      const names = Object.keys(tool.headers ?? {})
      return {
        ...tool,
        url: withoutPassword(tool.url),
        ...(tool.headers && { headers: Object.fromEntries(names.map((name) => [name, hidden])) }),
      }
    }),
  }),
  ...(definition.engine?.url !== undefined && {
    engine: { ...definition.engine, url: withoutPassword(definition.engine.url) },
  }),
})

const withoutPassword = (url: string): string =>
  url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, `$1${hidden}@`)
