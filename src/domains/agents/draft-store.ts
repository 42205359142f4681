import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import { isUuid } from '../../runtime/ids.ts'
import { agentColumns, type AgentRow } from './agent-store.ts'

/** An agent file as it was typed: only the name is known to be right. */
export type DraftFile = Readonly<Record<string, unknown>>

export interface DraftRow {
  readonly file: DraftFile
  readonly revision: number
  /** The version that was published when the draft was begun; 0: none. */
  readonly based_on: number
  readonly saved_at: Date
}

interface DraftKey {
  readonly organizationId: OrganizationId
  readonly agentId: string
}

const columns = `file, revision, based_on, saved_at`

const lockStatement = sql(
  'draft-store.lockAgent',
  `select id, ${agentColumns}
     from agents
    where organization_id = $1
      and id = $2
      for update`,
)

/** The agent, kept from other changes of it until the transaction ends. */
export const lockAgent = async (
  tx: Transaction,
  { organizationId, agentId }: DraftKey,
): Promise<AgentRow | undefined> =>
  isUuid(agentId) ? tx.row<AgentRow>(lockStatement, [organizationId, agentId]) : undefined

const insertAgentStatement = sql(
  'draft-store.insertUnpublishedAgent',
  `insert into agents (organization_id, id, name, description, language)
   values ($1, $2, $3, $4, $5)
   returning id, ${agentColumns}`,
)

/** What lists show of an agent. */
export interface AgentHead {
  readonly name: string
  readonly description: string | null
  readonly language: string
}

/** An agent without a version: no call can name it. */
export const insertUnpublishedAgent = async (
  tx: Transaction,
  { organizationId, agentId }: DraftKey,
  { name, description, language }: AgentHead,
): Promise<AgentRow> => {
  const row = await tx.row<AgentRow>(insertAgentStatement, [
    organizationId,
    agentId,
    name,
    description,
    language,
  ])
  if (!row) throw new Error('The insert of an agent returned no row.')
  return row
}

const renameStatement = sql(
  'draft-store.renameUnpublishedAgent',
  `update agents
      set name = $3, description = $4, language = $5, updated_at = now()
    where organization_id = $1
      and id = $2
      and published_version is null`,
)

/** Shows an agent without a version as its draft has it; others keep what is published. */
export const renameUnpublishedAgent = (
  tx: Transaction,
  { organizationId, agentId }: DraftKey,
  { name, description, language }: AgentHead,
): Promise<number> =>
  tx.run(renameStatement, [organizationId, agentId, name, description, language])

const findStatement = sql(
  'draft-store.findDraft',
  `select ${columns}
     from agent_drafts
    where organization_id = $1
      and agent_id = $2`,
)

export const findDraft = async (
  db: Queryable,
  { organizationId, agentId }: DraftKey,
): Promise<DraftRow | undefined> =>
  isUuid(agentId) ? db.row<DraftRow>(findStatement, [organizationId, agentId]) : undefined

const writeStatement = sql(
  'draft-store.writeDraft',
  `insert into agent_drafts (organization_id, agent_id, file, revision, based_on)
   values ($1, $2, $3, 1, $4)
   on conflict (organization_id, agent_id) do update
     set file     = excluded.file,
         revision = agent_drafts.revision + 1,
         based_on = excluded.based_on,
         saved_at = now()
   returning ${columns}`,
)

/** Keeps the file as the agent's draft, in the place of an earlier one. */
export const writeDraft = async (
  tx: Transaction,
  { organizationId, agentId }: DraftKey,
  file: DraftFile,
  basedOn: number,
): Promise<DraftRow> => {
  const row = await tx.row<DraftRow>(writeStatement, [
    organizationId,
    agentId,
    JSON.stringify(file),
    basedOn,
  ])
  if (!row) throw new Error('The write of a draft returned no row.')
  return row
}

const deleteStatement = sql(
  'draft-store.deleteDraft',
  `delete from agent_drafts
    where organization_id = $1
      and agent_id = $2`,
)

/** How many drafts there were: one or none. */
export const deleteDraft = (
  tx: Transaction,
  { organizationId, agentId }: DraftKey,
): Promise<number> => tx.run(deleteStatement, [organizationId, agentId])
