import { ApiError, notFound } from '../../contract/api-error.ts'
import type { Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { checkAgentFile, type AgentDefinition } from '../../domains/agents/agent-definition.ts'
import { findDraft } from '../../domains/agents/draft-store.ts'
import { sampleContact } from '../../domains/agents/preview-texts.ts'
import { findPublished } from '../../domains/agents/publish-agent.ts'
import type { TemplateContact } from '../../domains/agents/template.ts'
import { findContact } from '../../domains/contacts/contact-store.ts'
import { InvalidFileError } from '../../domains/organizations/invalid-file.ts'
import { findOrganization } from '../../domains/organizations/organization-store.ts'
import { requireAgent } from '../agents/agent-handlers.ts'
import { note, sessionOf, type ConsoleHandler } from '../console-handler.ts'

/** A ticket for a talk with an agent in the browser. It is no call: only the audit log knows of it. */
export const talkToAgent: ConsoleHandler<'talkToAgent'> = async ({ params, body }, context) => {
  const { db, organizationId, parts } = context
  const { id, archived_at: archivedAt } = await requireAgent(db, organizationId, params.agent_id)
  if (archivedAt) throw new ApiError('resource_state_conflict', 'The agent is archived.')
  const agent = await (body.version === 'draft' ? draftOf : publishedOf)(db, organizationId, id)
  const contact = await contactOf(db, organizationId, body.contact_id)
  const organization = await findOrganization(db, organizationId)
  // One without a mode is decided at the next start; until then nobody hears the scripted model as if it were a person.
  const mode = organization?.mode ?? 'live'
  const talk = { organizationId, agent, contact, mode }
  const problem = parts.talks.problemOf(talk)
  if (problem !== undefined) throw new ApiError('resource_state_conflict', problem)
  await note(db, context, {
    action: 'agent.talk',
    target: { type: 'agent', id },
    after: { version: body.version },
  })
  return { ticket: parts.tickets.issue(sessionOf(context), { kind: 'talk', talk }) }
}

type Find = (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
) => Promise<AgentDefinition>

const publishedOf: Find = async (db, organizationId, agentId) => {
  const found = await findPublished(db, organizationId, agentId)
  if (!found) throw new ApiError('resource_state_conflict', 'The agent was not published yet.')
  return found
}

const draftOf: Find = async (db, organizationId, agentId) => {
  const draft = await findDraft(db, { organizationId, agentId })
  if (!draft) throw new ApiError('resource_state_conflict', 'The agent has no draft.')
  try {
    return checkAgentFile(draft.file)
  } catch (error) {
    if (!(error instanceof InvalidFileError)) throw error
    throw new ApiError('resource_state_conflict', `The draft has faults: ${error.lines[0] ?? ''}`)
  }
}

const contactOf = async (
  db: Queryable,
  organizationId: OrganizationId,
  contactId: string | undefined,
): Promise<TemplateContact> => {
  if (contactId === undefined) return sampleContact
  const contact = await findContact(db, organizationId, contactId)
  if (!contact) throw notFound()
  return contact
}
