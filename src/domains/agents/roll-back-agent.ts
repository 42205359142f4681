import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Transaction } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { findAgentDefinition } from './agent-store.ts'
import { lockAgent } from './draft-store.ts'
import { publishAgent } from './publish-agent.ts'

type RolledBack = Awaited<ReturnType<typeof publishAgent>> & { readonly former: number }

/**
 * Publishes the definition of an older version as the next one; calls keep the versions they have, and a draft stays
 * as it is. Undefined for an unknown agent or version. Throws `OperatorError` for an archived agent, for the
 * published version, and where another was published than `seen`; `InvalidFileError` where the definition breaks a
 * rule that came later.
 */
export const rollBackAgent = async (
  tx: Transaction,
  organizationId: OrganizationId,
  agentId: string,
  { version, seen }: { readonly version: number; readonly seen?: number | undefined },
): Promise<RolledBack | undefined> => {
  const agent = await lockAgent(tx, { organizationId, agentId })
  const definition = agent && (await findAgentDefinition(tx, organizationId, agentId, version))
  if (!agent || !definition) return undefined
  const former = agent.published_version ?? 0
  if (version === former) throw new OperatorError(`Version ${version} is the published one.`)
  if (seen !== undefined && seen !== former)
    throw new OperatorError(
      `Version ${former} was published meanwhile. Load the agent again; nothing was published.`,
    )
  const published = await publishAgent(tx, agentId, definition, { restoredVersion: version })
  return { ...published, former }
}
