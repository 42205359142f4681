import { sql, type Queryable } from '../../database/database.ts'
import { newestFirst } from '../../database/newest-first.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'
import type { AgentDefinition } from './agent-definition.ts'

/** A stored agent, without its definition. */
export interface AgentRow {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly language: string
  /** Null: never published. */
  readonly published_version: number | null
  readonly archived_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const agentColumns = `name, description, language, published_version, archived_at, created_at, updated_at`

const insertStatement = sql(
  'agent-store.insertPublishedAgent',
  `with agent as (
     insert into agents (organization_id, id, name, description, language, published_version)
     values ($1, $2, $3, $4, $5, 1)
     returning organization_id, id, ${agentColumns}
   ),
   version as (
     insert into agent_versions (organization_id, agent_id, version, definition)
     select organization_id, id, 1, $6
       from agent
   )
   select id, ${agentColumns}
     from agent`,
)

/** A new agent with its version 1 published. */
export const insertPublishedAgent = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
  definition: AgentDefinition,
): Promise<AgentRow> => {
  const row = await db.row<AgentRow>(insertStatement, [
    organizationId,
    agentId,
    definition.name,
    definition.description ?? null,
    definition.language,
    JSON.stringify(definition),
  ])
  if (!row) throw new Error('The agent insert answered no row.')
  return row
}

const organizationStatement = sql(
  'agent-store.findAgentOrganization',
  `select organization_id
     from agents
    where id = $1`,
)

/** The agent's organization: for an operator, who names agents of any organization. */
export const findAgentOrganization = async (
  db: Queryable,
  agentId: string,
): Promise<OrganizationId | undefined> => {
  if (!isUuid(agentId)) return undefined
  return (await db.row<{ organization_id: OrganizationId }>(organizationStatement, [agentId]))
    ?.organization_id
}

const publishStatement = sql(
  'agent-store.publishAgentVersion',
  `with agent as (
     update agents
        set name = $2,
            description = $3,
            language = $4,
            -- Its own column and not a look at the versions: of two at a time the second sees what the first wrote.
            published_version = coalesce(published_version, 0) + 1,
            updated_at = now()
      where id = $1
        and archived_at is null
     returning organization_id, id, ${agentColumns}
   ),
   version as (
     insert into agent_versions (organization_id, agent_id, version, definition, restored_version)
     select organization_id, id, published_version, $5, $6
       from agent
   )
   select id, ${agentColumns}
     from agent`,
)

/**
 * The agent's next version, published at once; accepted calls keep theirs. Undefined for an unknown or archived
 * agent.
 */
export const publishAgentVersion = async (
  db: Queryable,
  agentId: string,
  definition: AgentDefinition,
  restoredVersion: number | undefined,
): Promise<AgentRow | undefined> => {
  if (!isUuid(agentId)) return undefined
  return db.row<AgentRow>(publishStatement, [
    agentId,
    definition.name,
    definition.description ?? null,
    definition.language,
    JSON.stringify(definition),
    restoredVersion ?? null,
  ])
}

const findStatement = sql(
  'agent-store.findAgent',
  `select id, ${agentColumns}
     from agents
    where organization_id = $1
      and id = $2`,
)

/** Undefined for an unknown id, one of another organization, and a malformed id. */
export const findAgent = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
): Promise<AgentRow | undefined> =>
  isUuid(agentId) ? db.row<AgentRow>(findStatement, [organizationId, agentId]) : undefined

const findVersionStatement = sql(
  'agent-store.findAgentDefinition',
  `select definition
     from agent_versions
    where organization_id = $1
      and agent_id = $2
      and version = $3`,
)

/** The agent's definition in that version, also after later versions. */
export const findAgentDefinition = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
  version: number,
): Promise<AgentDefinition | undefined> => {
  if (!isUuid(agentId)) return undefined
  const row = await db.row<{ definition: AgentDefinition }>(findVersionStatement, [
    organizationId,
    agentId,
    version,
  ])
  return row?.definition
}

/** Eligible agents, newest first (D8). */
export const listEligibleAgentRows = newestFirst<AgentRow, never>({
  name: 'agent-store.listEligibleAgentRows',
  columns: agentColumns,
  table: 'agents',
  sortColumn: 'created_at',
  filters: {},
  ways: [{ where: 'published_version is not null and archived_at is null' }],
})

const listAllStatement = sql(
  'agent-store.listAllAgents',
  `select id, ${agentColumns}
     from agents
    where archived_at is null
      and published_version is not null
      and ($1::uuid is null or organization_id = $1)
    order by created_at desc, id desc`,
)

/** For operators: what can be called with, of one organization or of all, newest first. */
export const listAllAgents = (
  db: Queryable,
  organizationId: string | undefined,
): Promise<AgentRow[]> => db.rows<AgentRow>(listAllStatement, [organizationId ?? null])

const archiveStatement = sql(
  'agent-store.archiveAgentRow',
  `update agents
      set archived_at = coalesce(archived_at, now()),
          updated_at  = case when archived_at is null then now() else updated_at end
    where id = $1
   returning id, ${agentColumns}`,
)

/** For operators, who name an agent by its id alone. Archiving twice changes nothing. */
export const archiveAgentRow = async (
  db: Queryable,
  agentId: string,
): Promise<AgentRow | undefined> =>
  isUuid(agentId) ? db.row<AgentRow>(archiveStatement, [agentId]) : undefined
