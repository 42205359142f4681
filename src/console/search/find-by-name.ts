import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { FoundRow } from './find-by-id.ts'

/** Of each kind, the newest are looked through; older ones are found in their lists. */
const maxRead = 500
const maxOfKind = 5

const partOf = (kind: FoundRow['kind'], table: string, status: string, only: string): string =>
  `(select '${kind}' as kind, id, name, status
      from (select id, name, ${status} as status from ${table}
             where organization_id = $1 and ${only}
             order by created_at desc, id desc limit ${maxRead}) as newest
     where strpos(lower(name), lower($2)) > 0
     limit ${maxOfKind})`

// Worded as indexes of the tables are; agents and Automations are few.
const findStatement = sql(
  'find-by-name.findByName',
  `select kind, id, null as call_id, name, null as contact_name, null as phone_number, status
     from (${[
       partOf('agent', 'agents', 'null', 'archived_at is null'),
       partOf('automation', 'automations', 'status', "status <> 'archived'"),
       partOf('batch', 'batches', 'status', 'created_at is not null'),
     ].join('\n union all\n')}) as found`,
)

/** Agents, Automations and batches whose name has the text in it: none of these is of a person. */
export const findByName = (
  db: Queryable,
  organizationId: OrganizationId,
  text: string,
): Promise<FoundRow[]> => db.rows<FoundRow>(findStatement, [organizationId, text])
