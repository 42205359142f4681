import { sql, type Queryable } from '../../database/database.ts'

interface TroubledNumber {
  /** Its name. */
  readonly organization: string
  readonly phone_number: string
  /** One sentence. */
  readonly reason: string
  readonly is_resting: boolean
}

const maxListed = 20

const listStatement = sql(
  'troubled-numbers.list',
  `select o.name as organization, n.phone_number,
          coalesce(n.flag_reason, 'Its trunk ' || n.trunk || ' is gone.') as reason,
          coalesce(n.rests_until > now(), false) as is_resting
     from caller_numbers n
     join organizations o on o.id = n.organization_id
    where n.flag_reason is not null
       or (n.trunk is not null and not exists (select from trunks t where t.name = n.trunk))
    order by n.flagged_at desc nulls last, o.name, n.phone_number
    limit ${maxListed}`,
)

/** Of all organizations: those that look spoiled, or have no trunk any more. The newest, at most twenty. */
export const listTroubledNumbers = (db: Queryable): Promise<TroubledNumber[]> =>
  db.rows<TroubledNumber>(listStatement, [])
