import { sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** The callee and the caller ID: only for the operator. */
export interface CallParties {
  /** Omitted if the contact was erased. */
  readonly contact_name?: string
  readonly phone_number?: string
  readonly agent_name?: string
}

interface PartiesRow {
  readonly id: string
  readonly contact_name: string | null
  readonly phone_number: string | null
  readonly agent_name: string | null
}

// The number of the call, which a change of the contact does not alter; erasing the contact removes it.
const listStatement = sql(
  'call-parties.listCallParties',
  `select c.id, p.name as contact_name, case when p.id is not null then c.phone_number end as phone_number,
          a.name as agent_name
     from calls c
     left join contacts p on p.organization_id = c.organization_id and p.id = c.contact_id
     left join agents a   on a.organization_id = c.organization_id and a.id = c.agent_id
    where c.organization_id = $1
      and c.id = any($2)`,
)

/** Ids of one statement. */
const maxIds = 1_000

/** The parties of calls by the calls' ids; an unknown id is omitted. */
export const listCallParties = async (
  db: Queryable,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CallParties>> => {
  const parties = new Map<string, CallParties>()
  for (let start = 0; start < ids.length; start += maxIds) {
    const some = ids.slice(start, start + maxIds)
    const rows = await db.rows<PartiesRow>(listStatement, [organizationId, some])
    for (const row of rows) parties.set(row.id, partiesOf(row))
  }
  return parties
}

const partiesOf = (row: PartiesRow): CallParties => ({
  ...(row.contact_name !== null && { contact_name: row.contact_name }),
  ...(row.phone_number !== null && { phone_number: row.phone_number }),
  ...(row.agent_name !== null && { agent_name: row.agent_name }),
})
