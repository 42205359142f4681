import { notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { agentDifferences } from '../../domains/agents/agent-differences.ts'
import { createDraft, discardDraft, saveDraft } from '../../domains/agents/agent-drafts.ts'
import { agentProblems } from '../../domains/agents/check-agent.ts'
import { findDraft, type DraftFile, type DraftRow } from '../../domains/agents/draft-store.ts'
import { withKeptSecrets } from '../../domains/agents/hidden-values.ts'
import { previewTexts, sampleContact } from '../../domains/agents/preview-texts.ts'
import { findPublished } from '../../domains/agents/publish-agent.ts'
import { readAgentSource } from '../../domains/agents/read-agent-source.ts'
import type { TemplateContact } from '../../domains/agents/template.ts'
import { contactResource } from '../../domains/contacts/contact-resource.ts'
import { findContact } from '../../domains/contacts/contact-store.ts'
import type { Principal } from '../../contract/principal.ts'
import { asTold, note, type ConsoleHandler } from '../console-handler.ts'
import { maskForViewers } from '../mask.ts'
import { requireAgent, showAgent } from './agent-handlers.ts'

/** A file has more only where it is far from an agent. */
const maxProblems = 100

/** What publishing would say to a file, and its texts filled in. Changes nothing. */
export const checkAgent: ConsoleHandler<'checkAgent'> = async (
  { body },
  { db, organizationId, principal },
) => {
  const { agent_id: agentId, contact_id: contactId } = body
  const read =
    body.source === undefined ? { file: body.file, problems: [] } : readAgentSource(body.source)
  const earlier = agentId === undefined ? [] : await earlierFiles(db, organizationId, agentId)
  const contact = await contactOf(db, organizationId, { contactId, principal })
  const { file } = read
  const whole = earlier.reduce(withKeptSecrets, file)
  const found = file === undefined ? [] : await agentProblems(db, organizationId, whole)
  const problems = [...read.problems, ...found]
  return {
    ...(file && { file }),
    problems: problems.slice(0, maxProblems).map(({ path, message }) => ({ path, message })),
    truncated: problems.length > maxProblems,
    texts: file === undefined ? {} : previewTexts(file, contact),
  }
}

/** Files of an agent in which hidden values may be kept. */
const earlierFiles = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
): Promise<readonly unknown[]> => {
  const { id } = await requireAgent(db, organizationId, agentId)
  const draft = await findDraft(db, { organizationId, agentId: id })
  return [draft?.file, await findPublished(db, organizationId, id)]
}

/** A viewer sees no name and no number, within a text neither. */
const contactOf = async (
  db: Queryable,
  organizationId: OrganizationId,
  { contactId, principal }: { contactId: string | undefined; principal: Principal },
): Promise<TemplateContact> => {
  if (contactId === undefined) return sampleContact
  const row = await findContact(db, organizationId, contactId)
  if (!row) throw notFound()
  return maskForViewers(principal, contactResource(row)) as TemplateContact
}

export const createAgentDraft: ConsoleHandler<'createAgentDraft'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const { agent, draft } = await asTold(createDraft(db, organizationId, body))
  await note(db, context, {
    action: 'agent.create_draft',
    target: { type: 'agent', id: agent.id },
    after: { name: agent.name, revision: draft.revision },
  })
  return savedDraft(db, organizationId, agent.id, draft)
}

/** Calls go on with the published version. */
export const saveAgentDraft: ConsoleHandler<'saveAgentDraft'> = async (
  { params, body: { file, ...seen } },
  context,
) => {
  const { db, organizationId } = context
  const saved = await asTold(saveDraft(db, organizationId, params.agent_id, { file, seen }))
  if (!saved) throw notFound()
  const { agent, draft, former } = saved
  const earlier = former?.file ?? (await findPublished(db, organizationId, agent.id))
  await note(db, context, {
    action: 'agent.save_draft',
    target: { type: 'agent', id: agent.id },
    before: { revision: former?.revision ?? 0, version: agent.published_version ?? 0 },
    after: { revision: draft.revision, changed: changedPaths(earlier, draft.file) },
  })
  return savedDraft(db, organizationId, agent.id, draft)
}

export const discardAgentDraft: ConsoleHandler<'discardAgentDraft'> = async (
  { params, query },
  context,
) => {
  const { db, organizationId } = context
  const discarded = await asTold(discardDraft(db, organizationId, params.agent_id, query.revision))
  if (!discarded) throw notFound()
  const { agent, draft } = discarded
  await note(db, context, {
    action: 'agent.discard_draft',
    target: { type: 'agent', id: agent.id },
    before: { revision: draft.revision, version: draft.based_on },
  })
  return showAgent(db, organizationId, agent)
}

const savedDraft = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
  { file, revision, based_on, saved_at: at }: DraftRow,
) => ({
  agent_id: agentId,
  revision,
  based_on,
  saved_at: formatDateTime(at),
  problems: (await agentProblems(db, organizationId, file))
    .slice(0, maxProblems)
    .map(({ path, message }) => ({ path, message })),
})

/** Paths that an audit entry names; the texts themselves stand in the versions. */
const maxNotedPaths = 50

export const changedPaths = (before: unknown, after: DraftFile): readonly string[] =>
  agentDifferences(before ?? {}, after)
    .slice(0, maxNotedPaths)
    .map(({ path }) => path)
