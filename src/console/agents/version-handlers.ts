import { notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Principal } from '../../contract/principal.ts'
import type { Queryable } from '../../database/database.ts'
import { requireSeen } from '../../domains/agents/agent-drafts.ts'
import { agentDifferences, type Difference } from '../../domains/agents/agent-differences.ts'
import { findAgentDefinition } from '../../domains/agents/agent-store.ts'
import { deleteDraft, findDraft, lockAgent } from '../../domains/agents/draft-store.ts'
import { findPublished, publishAgent as publish } from '../../domains/agents/publish-agent.ts'
import { rollBackAgent as rollBack } from '../../domains/agents/roll-back-agent.ts'
import { withoutSecrets } from '../../domains/agents/show-agent.ts'
import { listAgentVersionRows } from '../../domains/agents/agent-version-store.ts'
import { asTold, note, type ConsoleHandler } from '../console-handler.ts'
import { maskForViewers } from '../mask.ts'
import { requireAgent } from './agent-handlers.ts'
import { changedPaths } from './draft-handlers.ts'

export const publishAgent: ConsoleHandler<'publishAgent'> = async (
  { params, query, body },
  context,
) => {
  const { db, organizationId } = context
  const key = { organizationId, agentId: params.agent_id }
  const before = await lockAgent(db, key)
  if (!before) throw notFound()
  const draft = await findDraft(db, key)
  const former = await findPublished(db, organizationId, before.id)
  const { base_version: version, draft_revision: revision } = query
  const publishing = async () => {
    requireSeen(before, draft, {
      revision: revision ?? draft?.revision ?? 0,
      version: version ?? before.published_version ?? 0,
    })
    return publish(db, before.id, body, { draft: draft?.file })
  }
  const agent = await asTold(publishing())
  // A draft that the publication does not name is somebody's other work.
  if (revision !== undefined) await deleteDraft(db, key)
  const after = (await findPublished(db, organizationId, agent.id)) ?? {}
  await note(db, context, {
    action: 'agent.publish',
    target: { type: 'agent', id: agent.id },
    before: { name: before.name, version: before.published_version ?? 0 },
    after: { name: agent.name, version: agent.version, changed: changedPaths(former, after) },
  })
  return agent
}

export const rollBackAgent: ConsoleHandler<'rollBackAgent'> = async (
  { params, query },
  context,
) => {
  const { db, organizationId } = context
  const version = versionOf(params.version)
  const rolledBack = await asTold(
    rollBack(db, organizationId, params.agent_id, { version, seen: query.base_version }),
  )
  if (!rolledBack) throw notFound()
  const { former, ...agent } = rolledBack
  await note(db, context, {
    action: 'agent.roll_back',
    target: { type: 'agent', id: agent.id },
    before: { version: former },
    after: { name: agent.name, version: agent.version, restored_version: version },
  })
  return agent
}

/** Versions in one answer. */
const pageLength = 100

export const listAgentVersions: ConsoleHandler<'listAgentVersions'> = async (
  { params, query },
  { db, organizationId },
) => {
  const { id } = await requireAgent(db, organizationId, params.agent_id)
  const rows = await listAgentVersionRows(db, organizationId, id, {
    before: query.before ?? maxVersion,
    limit: pageLength + 1,
  })
  const data = rows.slice(0, pageLength).map((row) => ({
    version: row.version,
    name: row.name,
    published_at: formatDateTime(row.created_at),
    ...(row.restored_version !== null && { restored_version: row.restored_version }),
  }))
  return { data, has_more: rows.length > pageLength }
}

export const getAgentVersion: ConsoleHandler<'getAgentVersion'> = async (
  { params },
  { db, organizationId },
) => {
  const version = versionOf(params.version)
  const definition = await findAgentDefinition(db, organizationId, params.agent_id, version)
  if (!definition) throw notFound()
  return { version, definition: { ...withoutSecrets(definition) } }
}

/** Between any two versions, or the draft. */
export const compareAgentVersions: ConsoleHandler<'compareAgentVersions'> = async (
  { params, query },
  { db, organizationId, principal },
) => {
  const before = await sideOf(db, organizationId, params.agent_id, query.before)
  const after = await sideOf(db, organizationId, params.agent_id, query.after)
  return {
    data: agentDifferences(before, after).map((difference) => ({
      ...maskedAt(principal, difference),
      path: difference.path,
      is_hidden: difference.is_hidden ?? false,
    })),
  }
}

const sideOf = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
  side: string,
): Promise<unknown> => {
  const file =
    side === 'draft'
      ? (await findDraft(db, { organizationId, agentId }))?.file
      : await findAgentDefinition(db, organizationId, agentId, versionOf(side))
  if (!file) throw notFound()
  return file
}

/** Masks go by the names of members, and a difference stands outside of its object. */
const maskedAt = (
  principal: Principal,
  { path, before, after }: Difference,
): { before?: unknown; after?: unknown } => {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const mask = (value: unknown): unknown =>
    (maskForViewers(principal, { [name]: value }) as Record<string, unknown>)[name]
  return {
    ...(before !== undefined && { before: mask(before) }),
    ...(after !== undefined && { after: mask(after) }),
  }
}

/** The greatest that a version can be (PostgreSQL's integer). */
const maxVersion = 2_147_483_647

/** A version's number; throws 404 for anything else. */
const versionOf = (text: string): number => {
  const version = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0
  if (version < 1 || version > maxVersion) throw notFound()
  return version
}
