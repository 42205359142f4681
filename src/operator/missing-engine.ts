import type { Queryable } from '../database/database.ts'
import { showAgent } from '../domains/agents/show-agent.ts'
import { findOrganization } from '../domains/organizations/organization-store.ts'
import { createEngineChoice, type InstalledEngines } from '../live-call/call/choose-engine.ts'

/** What keeps a published agent from speaking with these engines, as a sentence; undefined where nothing does. */
export const missingEngine = async (
  engines: InstalledEngines,
  db: Queryable,
  organizationId: string,
  agentId: string,
): Promise<string | undefined> => {
  const organization = await findOrganization(db, organizationId)
  const agent = await showAgent(db, organizationId, agentId)
  // Whether there is a server is asked here, not where: any address will do.
  const choose = createEngineChoice({
    engines,
    allowPrivateNetwork: true,
    sandboxUrl: () => 'ws://127.0.0.1',
  })
  const choice = choose(agent, organization?.mode ?? 'sandbox')
  return typeof choice === 'string' ? choice : undefined
}
