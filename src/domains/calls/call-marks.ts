import type { OrganizationId } from '../../contract/organization-id.ts'
import { list, lookup, type Queryable } from '../../database/database.ts'
import { listedKinds } from './listed-kinds.ts'

/** A thing that may change, and a text that is another one after each change. */
export interface Mark {
  readonly id: string
  readonly mark: string
  /** How many turns were said in a live call; null for all else. */
  readonly turns?: number | null
}

/** Live calls that are watched; an installation has fewer channels. */
const maxLive = 1_000
/** The newest calls of each kind: what a first page of a list shows. */
const newest = 20

const newestOfKind = (kind: string): string =>
  `(select id, status || ' ' || updated_at as mark, null::integer as turns
        from calls
       where organization_id = $1
         and ${kind}
       order by created_at desc, id desc
       limit ${newest})`

// A live call changes with each turn that is spoken, too.
const readStatement = list(
  'call-marks.readCallMarks',
  `(select c.id, c.status || ' ' || c.updated_at as mark, coalesce(said.turns, 0) as turns
      from calls c
      left join lateral (
             select max(sequence) + 1 as turns
               from transcript_turns
              where organization_id = $1
                and call_id = c.id
           ) as said on true
     where c.organization_id = $1
       and c.lease_token is not null
     limit ${maxLive})
   union all
   ${listedKinds.map(newestOfKind).join('\n   union all\n   ')}`,
)

/** The live calls and the newest ones. */
export const readCallMarks = (db: Queryable, organizationId: OrganizationId): Promise<Mark[]> =>
  db.rows<Mark>(readStatement, [organizationId])

const ofIdsStatement = lookup(
  'call-marks.readMarksOfCalls',
  `select id, status || ' ' || updated_at as mark
     from calls
    where organization_id = $1
      and id = any($2)`,
)

/** Calls of any age. */
export const readMarksOfCalls = (
  db: Queryable,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<Mark[]> => db.rows<Mark>(ofIdsStatement, [organizationId, ids])
