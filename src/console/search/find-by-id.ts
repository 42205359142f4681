import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'

/** What an id names, with what tells a reader which one it is. */
export interface FoundRow {
  readonly kind: 'call' | 'batch' | 'run' | 'contact' | 'agent' | 'automation' | 'recording' | 'key'
  readonly id: string
  readonly call_id: string | null
  readonly name: string | null
  readonly contact_name: string | null
  readonly phone_number: string | null
  readonly status: string | null
}

/** Of each kind: ids that were made in one minute begin alike. */
const maxOfKind = 5

interface Kind {
  readonly kind: FoundRow['kind']
  readonly table: string
  /** `call_id`, `name`, `status`, whether it is shown, and the id of its contact. */
  readonly columns: string
}

const kinds: readonly Kind[] = [
  {
    kind: 'call',
    table: 'calls',
    columns: `null::uuid as call_id, null as name, status, '' || status <> 'pending' as is_shown,
            contact_id`,
  },
  { kind: 'batch', table: 'batches', columns: 'null, name, status, true, null' },
  { kind: 'run', table: 'automation_runs', columns: 'null, null, status, true, contact_id' },
  { kind: 'contact', table: 'contacts', columns: 'null, name, null, true, id' },
  { kind: 'agent', table: 'agents', columns: 'null, name, null, true, null' },
  { kind: 'automation', table: 'automations', columns: 'null, name, status, true, null' },
  {
    kind: 'recording',
    table: 'recordings',
    columns: "call_id, null, null, '' || status = 'ready', contact_id",
  },
  { kind: 'key', table: 'api_keys', columns: 'null, name, null, true, null' },
]

// Each by its primary key.
const partOf = ({ kind, table, columns }: Kind): string =>
  `(select '${kind}' as kind, id, ${columns}
      from ${table}
     where organization_id = $1
       and id between $2 and $3
     order by id desc
     limit ${maxOfKind})`

// `limit 1` leaves no other way to a contact than its key.
const findStatement = sql(
  'find-by-id.findById',
  `select f.kind, f.id, f.call_id, f.name, f.status,
          case when f.kind <> 'contact' then c.name end as contact_name, c.phone_number
     from (${kinds.map(partOf).join('\n union all\n')}) as f
     left join lateral (
            select name, phone_number
              from contacts
             where organization_id = $1
               and id = f.contact_id
             limit 1) as c on true
    where f.is_shown`,
)

/** Things of the organization whose ids begin with `digits`: hexadecimal digits without hyphens, 6 to 32. */
export const findById = (
  db: Queryable,
  organizationId: OrganizationId,
  digits: string,
): Promise<FoundRow[]> =>
  db.rows<FoundRow>(findStatement, [
    organizationId,
    uuidOf(digits.padEnd(32, '0')),
    uuidOf(digits.padEnd(32, 'f')),
  ])

const uuidOf = (digits: string): string =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
