import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, type Queryable } from '../../database/database.ts'

/** A call that goes on, with whom it is about and what was said last. */
export interface LiveCallRow {
  readonly id: string
  readonly status: 'dialing' | 'in_progress'
  readonly contact_id: string
  readonly agent_id: string
  readonly dialing_at: Date | null
  readonly connected_at: Date | null
  readonly is_ending: boolean
  readonly node_name: string | null
  /** Null once the contact was erased. */
  readonly contact_name: string | null
  readonly phone_number: string | null
  readonly agent_name: string | null
  readonly sequence: number | null
  readonly speaker: string | null
  readonly text: string | null
}

/** More than an organization has channels. */
export const maxLiveCalls = 1_000
/** A line of the list; the whole turn stands in the transcript. */
const maxTextLength = 300

// The claimed calls are few and have an index of their own; what belongs to each is found by its key.
const listStatement = list(
  'live-calls-store.listLiveCalls',
  `select c.id, c.status, c.contact_id, c.agent_id, c.dialing_at, c.connected_at,
          c.cancel_requested_at is not null as is_ending, n.name as node_name, p.name as contact_name,
          case when p.id is not null then c.phone_number end as phone_number, a.name as agent_name,
          said.sequence, said.speaker, left(said.text, ${maxTextLength}) as text
     from (select *
             from calls
            where organization_id = $1
              and lease_token is not null
              and status in ('dialing', 'in_progress')
            order by dialing_at, id
            limit ${maxLiveCalls}) as c
     left join contacts p on p.organization_id = $1 and p.id = c.contact_id
     left join agents a   on a.organization_id = $1 and a.id = c.agent_id
     left join nodes n    on n.id = c.node_id
     left join lateral (
            select t.sequence, t.speaker, t.text
              from transcript_turns t
             where t.organization_id = $1
               and t.call_id = c.id
             order by t.sequence desc
             limit 1
          ) as said on true
    order by c.dialing_at, c.id`,
)

/** The calls of the organization that ring or are held now, the longest first. */
export const listLiveCalls = (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<LiveCallRow[]> => db.rows<LiveCallRow>(listStatement, [organizationId])
