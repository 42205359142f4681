import { sql, type Queryable } from '../../database/database.ts'
import type { CallingPolicyJson } from '../organizations/calling-policy.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** The facts needed to accept a call, read in one round trip. */
export interface Placement {
  readonly policy: CallingPolicyJson
  /** The timestamp of this transaction, which the database will write into the call. */
  readonly placed_at: Date
  /** Null: the organization has no such agent. */
  readonly agent_id: string | null
  /** Null: never published. */
  readonly published_version: number | null
  readonly is_archived: boolean
  /** Null: the organization has no such contact. */
  readonly contact_id: string | null
  readonly phone_number: string | null
  readonly is_on_do_not_call_list: boolean
}

const findStatement = sql(
  'placement-store.findPlacement',
  `select o.policy, now() as placed_at,
          a.id as agent_id, a.published_version, a.archived_at is not null as is_archived,
          c.id as contact_id, c.phone_number,
          d.phone_number is not null as is_on_do_not_call_list
     from organizations o
     join dispatch_organizations w on w.organization_id = o.id
     left join agents a   on a.organization_id = o.id and a.id = $2
     left join contacts c on c.organization_id = o.id and c.id = $3
     left join lateral (select phone_number from dnc_numbers
                         where organization_id = o.id and phone_number = c.phone_number
                         limit 1) d on true
    where o.id = $1`,
)

/** Ids that are not UUIDs are passed as null and match nothing. */
export const findPlacement = (
  db: Queryable,
  organizationId: OrganizationId,
  agentId: string | null,
  contactId: string | null,
): Promise<Placement | undefined> =>
  db.row<Placement>(findStatement, [organizationId, agentId, contactId])
