import { notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { listAgentsIn } from '../../domains/agents/agent-list-store.ts'
import { agentResource } from '../../domains/agents/agent-resource.ts'
import { findAgent, findAgentDefinition, type AgentRow } from '../../domains/agents/agent-store.ts'
import { archiveAgent as archive } from '../../domains/agents/archive-agent.ts'
import { createAgent as create } from '../../domains/agents/create-agent.ts'
import { findDraft, type DraftRow } from '../../domains/agents/draft-store.ts'
import { hideSecrets } from '../../domains/agents/hidden-values.ts'
import { withoutSecrets } from '../../domains/agents/show-agent.ts'
import { asTold, note, type ConsoleHandler } from '../console-handler.ts'

export const listAgents: ConsoleHandler<'listAgents'> = async (
  { query },
  { db, organizationId },
) => {
  const { rows, truncated } = await listAgentsIn(db, organizationId, query.state ?? 'eligible')
  const data = rows.map((row) => ({
    ...agentResource(row),
    version: row.published_version ?? 0,
    ...(row.draft_saved_at && { draft_saved_at: formatDateTime(row.draft_saved_at) }),
    ...(row.archived_at && { archived_at: formatDateTime(row.archived_at) }),
  }))
  return { data, truncated }
}

/** An agent of the session's organization; throws 404. */
export const requireAgent = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
): Promise<AgentRow> => {
  const row = await findAgent(db, organizationId, agentId)
  if (!row) throw notFound()
  return row
}

/** With the definition that new calls get; credentials of its tools are hidden. */
export const getAgent: ConsoleHandler<'getAgent'> = async ({ params }, { db, organizationId }) =>
  showAgent(db, organizationId, await requireAgent(db, organizationId, params.agent_id))

export const showAgent = async (db: Queryable, organizationId: OrganizationId, row: AgentRow) => {
  const version = row.published_version ?? 0
  const definition = await findAgentDefinition(db, organizationId, row.id, version)
  const draft = await findDraft(db, { organizationId, agentId: row.id })
  return {
    ...agentResource(row),
    version,
    ...(row.archived_at && { archived_at: formatDateTime(row.archived_at) }),
    definition: definition === undefined ? {} : { ...withoutSecrets(definition) },
    ...(draft && { draft: shownDraft(draft) }),
  }
}

const shownDraft = ({ file, revision, based_on, saved_at: at }: DraftRow) => ({
  file: { ...Object(hideSecrets(file)) },
  revision,
  based_on,
  saved_at: formatDateTime(at),
})

export const createAgent: ConsoleHandler<'createAgent'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const agent = await asTold(create(db, organizationId, body))
  await note(db, context, {
    action: 'agent.create',
    target: { type: 'agent', id: agent.id },
    after: { name: agent.name, version: 1 },
  })
  return agent
}

/** Archiving twice changes nothing. */
export const archiveAgent: ConsoleHandler<'archiveAgent'> = async ({ params }, context) => {
  const { db, organizationId } = context
  const before = await requireAgent(db, organizationId, params.agent_id)
  const agent = await asTold(archive(db, before.id))
  if (before.archived_at === null)
    await note(db, context, {
      action: 'agent.archive',
      target: { type: 'agent', id: agent.id },
      before: { name: agent.name },
    })
  return agent
}
