import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { isUuid } from '../../runtime/ids.ts'

interface VersionRow {
  readonly version: number
  readonly created_at: Date
  /** The older version that this one repeats, after a roll-back. */
  readonly restored_version: number | null
  readonly name: string
}

const listStatement = sql(
  'agent-version-store.listAgentVersionRows',
  `select version, created_at, restored_version, definition->>'name' as name
     from agent_versions
    where organization_id = $1
      and agent_id = $2
      and version < $3
    order by version desc
    limit $4`,
)

/** The newest versions below a number. */
export const listAgentVersionRows = async (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<VersionRow[]> =>
  isUuid(agentId)
    ? db.rows<VersionRow>(listStatement, [organizationId, agentId, before, limit])
    : []
