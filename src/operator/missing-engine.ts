import type { Queryable } from '../database/database.ts'
import { showAgent } from '../domains/agents/show-agent.ts'
import { findOrganization } from '../domains/organizations/organization-store.ts'
import { engineProblem, type InstalledEngines } from '../live-call/call/choose-engine.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

/** A sentence that says why these engines cannot serve a published agent; undefined if they can. */
export const missingEngine = async (
  engines: InstalledEngines,
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
): Promise<string | undefined> => {
  const organization = await findOrganization(db, organizationId)
  const agent = await showAgent(db, organizationId, agentId)
  return engineProblem(engines, agent, organization?.mode ?? 'sandbox')
}
