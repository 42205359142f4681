import { notFound } from '../../contract/api-error.ts'
import { archiveAgent as archive } from '../../domains/agents/archive-agent.ts'
import { agentResource } from '../../domains/agents/agent-resource.ts'
import {
  findAgent,
  findAgentDefinition,
  findAgentOrganization,
  listAllAgents,
} from '../../domains/agents/agent-store.ts'
import { createAgent as create } from '../../domains/agents/create-agent.ts'
import { publishAgent as publish } from '../../domains/agents/publish-agent.ts'
import { withoutSecrets } from '../../domains/agents/show-agent.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { asTold, note, requireOwn, type ConsoleHandler } from '../console-handler.ts'

export const listAgents: ConsoleHandler<'listAgents'> = async (_input, { db, organizationId }) => ({
  data: (await listAllAgents(db, organizationId)).map(agentResource),
})

/** With the definition that new calls get; credentials of its tools are hidden. */
export const getAgent: ConsoleHandler<'getAgent'> = async ({ params }, { db, organizationId }) => {
  const row = await findAgent(db, organizationId, params.agent_id)
  if (!row) throw notFound()
  const version = row.published_version ?? 0
  const definition = await findAgentDefinition(db, organizationId, row.id, version)
  return {
    ...agentResource(row),
    version,
    ...(row.archived_at && { archived_at: formatDateTime(row.archived_at) }),
    definition: definition === undefined ? {} : { ...withoutSecrets(definition) },
  }
}

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

export const publishAgent: ConsoleHandler<'publishAgent'> = async ({ params, body }, context) => {
  const { db } = context
  requireOwn(context, await findAgentOrganization(db, params.agent_id))
  const agent = await asTold(publish(db, params.agent_id, body))
  await note(db, context, {
    action: 'agent.publish',
    target: { type: 'agent', id: agent.id },
    before: { version: agent.version - 1 },
    after: { name: agent.name, version: agent.version },
  })
  return agent
}

export const archiveAgent: ConsoleHandler<'archiveAgent'> = async ({ params }, context) => {
  const { db } = context
  requireOwn(context, await findAgentOrganization(db, params.agent_id))
  const agent = await asTold(archive(db, params.agent_id))
  await note(db, context, {
    action: 'agent.archive',
    target: { type: 'agent', id: agent.id },
    before: { name: agent.name },
  })
  return agent
}
