import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { agentColumns, type AgentRow } from './agent-store.ts'

/** Agents that a list shows: more than an organization tells apart by eye. */
const maxListedAgents = 1_000

interface ListedAgentRow extends AgentRow {
  readonly draft_saved_at: Date | null
}

const statementOf = (name: string, where: string) =>
  sql(
    `agent-list-store.${name}`,
    `select id, ${agentColumns},
            (select saved_at
               from agent_drafts d
              where d.organization_id = a.organization_id
                and d.agent_id = a.id) as draft_saved_at
       from agents a
      where organization_id = $1
        and ${where}
      order by created_at desc, id desc
      limit $2`,
  )

const statements = {
  eligible: statementOf('eligible', 'published_version is not null and archived_at is null'),
  current: statementOf('current', 'archived_at is null'),
  archived: statementOf('archived', 'archived_at is not null'),
} as const

/** An organization's agents, newest first, and whether older ones were left out. */
export const listAgentsIn = async (
  db: Queryable,
  organizationId: OrganizationId,
  state: keyof typeof statements,
): Promise<{ readonly rows: readonly ListedAgentRow[]; readonly truncated: boolean }> => {
  const values = [organizationId, maxListedAgents + 1]
  const rows = await db.rows<ListedAgentRow>(statements[state], values)
  return { rows: rows.slice(0, maxListedAgents), truncated: rows.length > maxListedAgents }
}
