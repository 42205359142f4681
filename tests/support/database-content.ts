import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { sql, type Queryable } from '../../src/database/database.ts'

interface Listed {
  readonly name: string
  readonly has_organization: boolean
}

const tablesStatement = sql(
  'database-content.tables',
  `select t.table_name as name,
          exists (select from information_schema.columns c
                   where c.table_schema = t.table_schema
                     and c.table_name = t.table_name
                     and c.column_name = 'organization_id') as has_organization
     from information_schema.tables t
    where t.table_schema = 'public'
      and t.table_type = 'BASE TABLE'
    order by 1`,
)

/**
 * A reader of everything that the tables hold, one digest a table: two readings are equal if nothing was changed between
 * them. With an organization only its rows. When somebody was last seen counts for nothing.
 */
export const openContentReader = async (db: Queryable) => {
  const tables = await db.rows<Listed>(tablesStatement, [])
  const textOf = (chosen: readonly Listed[], where: string): string =>
    chosen
      .map(
        ({ name }) =>
          `select '${name}' as name,
                  md5(coalesce(string_agg(row, ' ' order by row), '')) as digest
             from (select (to_jsonb(t) - 'last_seen_at')::text as row from ${name} t${where}) ${name}_rows`,
      )
      .join(' union all ')
  const whole = sql('database-content.whole', textOf(tables, ''))
  const owned = tables.filter((each) => each.has_organization)
  const ofOrganization = sql(
    'database-content.organization',
    textOf(owned, ' where organization_id = $1'),
  )
  return async (organizationId?: OrganizationId): Promise<Record<string, string>> => {
    const rows =
      organizationId === undefined
        ? await db.rows<{ name: string; digest: string }>(whole, [])
        : await db.rows<{ name: string; digest: string }>(ofOrganization, [organizationId])
    return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
  }
}
