import type { OrganizationId } from '../../contract/organization-id.ts'
import { trimWhiteSpace } from '../../contract/text.ts'
import type { Transaction } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import { InvalidFileError } from '../organizations/invalid-file.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { canonicalLanguage } from './agent-definition.ts'
import type { AgentRow } from './agent-store.ts'
import {
  deleteDraft,
  findDraft,
  insertUnpublishedAgent,
  lockAgent,
  renameUnpublishedAgent,
  writeDraft,
  type AgentHead,
  type DraftFile,
  type DraftRow,
} from './draft-store.ts'
import { withKeptSecrets } from './hidden-values.ts'
import { findPublished } from './publish-agent.ts'

interface DraftedAgent {
  readonly agent: AgentRow
  readonly draft: DraftRow
  /** What the draft was before; undefined for a new one. */
  readonly former?: DraftRow | undefined
}

/** An agent that no call can name until it is published. Throws `InvalidFileError` without a name. */
export const createDraft = async (
  tx: Transaction,
  organizationId: OrganizationId,
  file: DraftFile,
): Promise<DraftedAgent> => {
  const key = { organizationId, agentId: newId() }
  const agent = await insertUnpublishedAgent(tx, key, headOf(file))
  return { agent, draft: await writeDraft(tx, key, file, 0) }
}

/** What a person saw before changing something: a change that somebody else made since is not overwritten. */
interface SeenAgent {
  /** Of the draft; 0: there was none. */
  readonly revision: number
  /** The published one; 0: none. */
  readonly version: number
}

/**
 * Keeps a file as the agent's draft; calls go on with the published version. Undefined for an unknown agent. Throws
 * `InvalidFileError` without a name, and `OperatorError` where it is archived or was changed since it was seen.
 */
export const saveDraft = async (
  tx: Transaction,
  organizationId: OrganizationId,
  agentId: string,
  { file, seen }: { readonly file: DraftFile; readonly seen: SeenAgent },
): Promise<DraftedAgent | undefined> => {
  const key = { organizationId, agentId }
  const head = headOf(file)
  const agent = await lockAgent(tx, key)
  if (!agent) return undefined
  const former = await findDraft(tx, key)
  requireSeen(agent, former, seen)
  const published = await findPublished(tx, organizationId, agentId)
  const whole = [former?.file, published].reduce<unknown>(withKeptSecrets, file) as DraftFile
  const basedOn = former?.based_on ?? agent.published_version ?? 0
  const draft = await writeDraft(tx, key, whole, basedOn)
  if (agent.published_version === null) await renameUnpublishedAgent(tx, key, head)
  return { agent, draft, former }
}

/** Deletes the draft. Undefined for an unknown agent. Throws `OperatorError` where nothing would be left of it. */
export const discardDraft = async (
  tx: Transaction,
  organizationId: OrganizationId,
  agentId: string,
  revision: number,
): Promise<DraftedAgent | undefined> => {
  const key = { organizationId, agentId }
  const agent = await lockAgent(tx, key)
  if (!agent) return undefined
  const former = await findDraft(tx, key)
  if (!former) throw new OperatorError('The agent has no draft.')
  if (agent.published_version === null)
    throw new OperatorError('The agent was never published: the draft is all of it. Archive it.')
  requireSeen(agent, former, { revision, version: agent.published_version })
  await deleteDraft(tx, key)
  return { agent, draft: former }
}

/** Throws `OperatorError` where the agent is archived, or changed since a person saw it. */
export const requireSeen = (
  agent: AgentRow,
  draft: DraftRow | undefined,
  seen: SeenAgent,
): void => {
  if (agent.archived_at !== null) throw new OperatorError('The agent is archived.')
  if ((draft?.revision ?? 0) !== seen.revision)
    throw new OperatorError(
      'The draft was changed meanwhile, by another person or in another window. Load it again; nothing was saved.',
    )
  if ((agent.published_version ?? 0) !== seen.version)
    throw new OperatorError(
      `Version ${agent.published_version ?? 0} was published meanwhile. Load the agent again; nothing was saved.`,
    )
}

const maxNameLength = 200

/** What lists show of a file that may have faults. */
const headOf = ({ name, description, language }: DraftFile): AgentHead => {
  const trimmed = typeof name === 'string' ? trimWhiteSpace(name) : ''
  const length = Array.from(trimmed).length
  if (length < 1 || length > maxNameLength)
    throw new InvalidFileError([
      { path: 'name', message: `It must be a text of 1 to ${maxNameLength} characters.` },
    ])
  return {
    name: trimmed,
    description: typeof description === 'string' && description !== '' ? description : null,
    language: (typeof language === 'string' && canonicalLanguage(language)) || 'en-US',
  }
}
