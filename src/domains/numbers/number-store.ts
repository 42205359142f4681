import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import type { NumberSettings } from './number-settings.ts'

export interface NumberRow extends NumberSettings {
  readonly phone_number: string
  readonly country: string | null
  readonly is_resting: boolean
  /** Null: until it is resumed. */
  readonly rests_until: Date | null
  readonly rest_reason: string | null
  readonly flag_reason: string | null
  readonly flagged_at: Date | null
  readonly calls_today: number
  readonly is_trunk_known: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = `n.phone_number, n.country, n.trunk, n.calls_per_day, n.rest_when_flagged,
          coalesce(n.rests_until > now(), false) as is_resting,
          case when isfinite(n.rests_until) then n.rests_until end as rests_until, n.rest_reason,
          n.flag_reason, n.flagged_at,
          coalesce(d.calls, 0) as calls_today,
          n.trunk is null or exists (select from trunks t where t.name = n.trunk) as is_trunk_known,
          n.created_at, n.updated_at
     from caller_numbers n
     join organizations o on o.id = n.organization_id
     left join lateral (select calls
                          from caller_number_days
                         where organization_id = n.organization_id and phone_number = n.phone_number
                           and day = (now() at time zone (o.policy ->> 'time_zone'))::date
                         limit 1) d on true`

const listStatement = sql(
  'number-store.listNumbers',
  `select ${columns}
    where n.organization_id = $1
    order by n.phone_number`,
)

/** All: never more than `maxNumbers`. */
export const listNumberRows = (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<NumberRow[]> => db.rows<NumberRow>(listStatement, [organizationId])

const findStatement = sql(
  'number-store.findNumber',
  `select ${columns}
    where n.organization_id = $1
      and n.phone_number = $2
      for update of n`,
)

/** Locks the number until commit. */
export const lockNumberRow = (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<NumberRow | undefined> => db.row<NumberRow>(findStatement, [organizationId, phoneNumber])

const countStatement = sql(
  'number-store.countNumbers',
  `select count(*)::integer as count
     from caller_numbers
    where organization_id = $1`,
)

export const countNumbers = async (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<number> =>
  (await db.row<{ count: number }>(countStatement, [organizationId]))?.count ?? 0

const anyStatement = sql(
  'number-store.hasAnyNumber',
  'select exists (select from caller_numbers) as has_any',
)

/** Over all organizations. */
export const hasAnyNumber = async (db: Queryable): Promise<boolean> =>
  (await db.row<{ has_any: boolean }>(anyStatement, []))?.has_any ?? false

const writeStatement = sql(
  'number-store.writeNumber',
  `insert into caller_numbers (organization_id, phone_number, country, trunk, calls_per_day, rest_when_flagged)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (organization_id, phone_number) do update
      set trunk = $4, calls_per_day = $5, rest_when_flagged = $6, updated_at = now()`,
)

/** Inserts or replaces what was set. */
export const writeNumber = async (
  db: Queryable,
  organizationId: OrganizationId,
  number: NumberSettings & { readonly phone_number: string; readonly country: string | null },
): Promise<void> => {
  const { phone_number, country, trunk, calls_per_day, rest_when_flagged } = number
  await db.run(writeStatement, [
    organizationId,
    phone_number,
    country,
    trunk,
    calls_per_day,
    rest_when_flagged,
  ])
}

const deleteStatement = sql(
  'number-store.deleteNumber',
  `delete from caller_numbers
    where organization_id = $1
      and phone_number = $2`,
)

export const deleteNumberRow = (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<number> => db.run(deleteStatement, [organizationId, phoneNumber])

const restStatement = sql(
  'number-store.restNumber',
  `update caller_numbers
      set rests_until = coalesce($3::timestamptz, 'infinity'), rest_reason = $4, updated_at = now()
    where organization_id = $1
      and phone_number = $2`,
)

/** Without `until` until it is resumed. */
export const restNumberRow = async (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
  { reason, until }: { readonly reason: string; readonly until?: Date | undefined },
): Promise<void> => {
  await db.run(restStatement, [organizationId, phoneNumber, until ?? null, reason])
}

const resumeStatement = sql(
  'number-store.resumeNumber',
  `update caller_numbers n
      set rests_until = null, rest_reason = null, flag_reason = null, flagged_at = null, updated_at = now(),
          -- What was held against it today is known to who resumes it.
          judged_from = case when n.flag_reason is null then n.judged_from
                             else (now() at time zone (o.policy ->> 'time_zone'))::date + 1 end
     from organizations o
    where o.id = n.organization_id
      and n.organization_id = $1
      and n.phone_number = $2`,
)

export const resumeNumberRow = async (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<void> => {
  await db.run(resumeStatement, [organizationId, phoneNumber])
}

const agentsStatement = sql(
  'number-store.agentsWithNumber',
  `select a.name
     from agents a
    cross join lateral (select definition
                          from agent_versions
                         where organization_id = a.organization_id and agent_id = a.id
                           and version = a.published_version
                         limit 1) v
    where a.organization_id = $1
      and a.archived_at is null
      and v.definition -> 'caller_ids' ? $2
    order by a.name
    limit 3`,
)

/** Names of published agents that call from the number, at most three. */
export const agentsWithNumber = async (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<readonly string[]> =>
  (await db.rows<{ name: string }>(agentsStatement, [organizationId, phoneNumber])).map(
    ({ name }) => name,
  )

const unknownStatement = sql(
  'number-store.unknownNumbers',
  `select u.number
     from unnest($2::text[]) as u (number)
    where not exists (select
                        from caller_numbers n
                       where n.organization_id = $1 and n.phone_number = u.number)`,
)

/** Those that are not the organization's. */
export const unknownNumbers = async (
  db: Queryable,
  organizationId: OrganizationId,
  numbers: readonly string[],
): Promise<readonly string[]> =>
  (await db.rows<{ number: string }>(unknownStatement, [organizationId, numbers])).map(
    ({ number }) => number,
  )

const trunkStatement = sql(
  'number-store.findTrunkFor',
  `select organizations is null or $2::uuid = any(organizations) as serves
     from trunks
    where name = $1`,
)

/** Whether the trunk serves the organization; undefined: there is none of this name. */
export const trunkServes = async (
  db: Queryable,
  trunk: string,
  organizationId: OrganizationId,
): Promise<boolean | undefined> =>
  (await db.row<{ serves: boolean }>(trunkStatement, [trunk, organizationId]))?.serves

const purgeText = (table: 'caller_number_days' | 'caller_number_results'): string =>
  `delete from ${table}
    where ctid = any (array(select ctid from ${table} where day < current_date - $2::integer limit $1))`

const purgeDaysStatement = sql('number-store.purgeDays', purgeText('caller_number_days'))
const purgeResultsStatement = sql('number-store.purgeResults', purgeText('caller_number_results'))

/** Days are kept for this long: for the cap of today, and the week against which a number is judged. */
const keptDays = 60

/** Deletes up to `limit` old rows of all organizations of each kind; resolves with the larger count. */
export const purgeNumberDays = async (db: Queryable, limit: number): Promise<number> =>
  Math.max(
    await db.run(purgeDaysStatement, [limit, keptDays]),
    await db.run(purgeResultsStatement, [limit, keptDays]),
  )
