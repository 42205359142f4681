import type { Queryable } from '../database/database.ts'
import { showAgent } from '../domains/agents/show-agent.ts'
import { findOrganization } from '../domains/organizations/organization-store.ts'
import type { SecretBox } from '../domains/organizations/secret-box.ts'
import { findProvider } from '../domains/providers/find-provider.ts'
import { listProviderRows } from '../domains/providers/provider-store.ts'
import { engineProblem, type InstalledEngines } from '../live-call/call/choose-engine.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

/** A sentence that says why these engines cannot serve a published agent; undefined if they can. */
export const missingEngine = async (
  engines: InstalledEngines,
  box: SecretBox,
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
): Promise<string | undefined> => {
  const organization = await findOrganization(db, organizationId)
  const agent = await showAgent(db, organizationId, agentId)
  const rows = await listProviderRows(db)
  return engineProblem(
    engines,
    agent,
    organization?.mode ?? 'sandbox',
    organizationId,
    (id, name) => findProvider(rows, box, id, name),
  )
}
