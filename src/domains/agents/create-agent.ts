import type { Agent } from '../../contract/agents.ts'
import type { Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import { checkAgentFile } from './agent-definition.ts'
import { agentResource } from './agent-resource.ts'
import { insertPublishedAgent } from './agent-store.ts'
import { checkInOrganization } from './check-in-organization.ts'

/** A new agent from its file (parsed JSON), published at once. Throws `InvalidFileError`. */
export const createAgent = async (
  db: Queryable,
  organizationId: OrganizationId,
  file: unknown,
): Promise<Agent> => {
  const definition = checkAgentFile(file)
  await checkInOrganization(db, organizationId, definition)
  return agentResource(await insertPublishedAgent(db, organizationId, newId(), definition))
}
