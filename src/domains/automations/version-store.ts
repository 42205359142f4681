import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'

/** A version without its definition. */
interface VersionRow {
  readonly version: number
  readonly created_at: Date
}

/** Versions that are listed; older ones are found by their number. */
const maxVersions = 200

const listStatement = sql(
  'version-store.listVersions',
  `select version, created_at
     from automation_versions
    where organization_id = $1
      and automation_id = $2
    order by version desc
    limit ${maxVersions}`,
)

/** The newest versions of an Automation, newest first. */
export const listVersions = (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
): Promise<VersionRow[]> => db.rows<VersionRow>(listStatement, [organizationId, automationId])
