import { sql, type Queryable } from '../../database/database.ts'
import type { AgentDefinition } from '../agents/agent-definition.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const findStatement = sql(
  'agent-of-call.find',
  `select v.definition
     from calls c
    cross join lateral (
       select definition
         from agent_versions
        where organization_id = c.organization_id
          and agent_id = c.agent_id
          and version = c.agent_version
        limit 1
     ) v
    where c.organization_id = $1
      and c.id = $2`,
)

/** The agent's definition when the call was accepted; undefined if it is gone. */
export const findAgentOfCall = async (
  db: Queryable,
  organizationId: OrganizationId,
  callId: string,
): Promise<AgentDefinition | undefined> => {
  const row = await db.row<{ definition: AgentDefinition }>(findStatement, [organizationId, callId])
  return row?.definition
}
