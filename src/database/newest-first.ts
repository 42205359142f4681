import { sql, type Queryable, type Statement } from './database.ts'

/** Where a page ended: the sort column as UTC text with microseconds, and the row's id. */
export interface PagePosition {
  readonly sort: string
  readonly id: string
}

export interface ListRequest<Filter extends string> {
  readonly organizationId: string
  readonly limit: number
  readonly cursor?: PagePosition | undefined
  /** Filters left undefined do not apply. */
  readonly filters: Readonly<Partial<Record<Filter, unknown>>>
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Position of the last row if more follow. */
  readonly next: PagePosition | null
}

interface ListDeclaration<Filter extends string> {
  /** `<noun>-store.<function>`. */
  readonly name: string
  /** Everything selected besides the id. */
  readonly columns: string
  /** With an index over (organization_id, sort column desc, id desc). */
  readonly table: string
  /** A condition that always holds, if any. */
  readonly where?: string
  readonly sortColumn: string
  /** Each filter's condition, with `?` for its value. */
  readonly filters: Readonly<Record<Filter, string>>
}

/**
 * A list of one organization's rows, newest first by (sort column, id). One statement is prepared for each combination of
 * filters, so that the plan uses the index that fits; the combinations are as many as the declaration allows and no more.
 * The position carries microseconds: a JavaScript Date would skip rows.
 */
export const newestFirst = <Row extends { id: string }, Filter extends string>(
  declaration: ListDeclaration<Filter>,
): ((db: Queryable, request: ListRequest<Filter>) => Promise<Page<Row>>) => {
  const statements = new Map<string, Statement>()
  const statementFor = (used: readonly Filter[], hasCursor: boolean): Statement => {
    const key = [...used, ...(hasCursor ? ['cursor'] : [])].join('+')
    const known = statements.get(key)
    if (known) return known
    const made = sql(
      `${declaration.name}.${combinationOf(declaration, used, hasCursor)}`,
      listText(declaration, used, hasCursor),
    )
    statements.set(key, made)
    return made
  }
  return async (db, { organizationId, limit, cursor, filters }) => {
    const used = (Object.keys(declaration.filters) as Filter[]).filter(
      (filter) => filters[filter] !== undefined,
    )
    const values = [
      organizationId,
      limit + 1,
      ...used.map((filter) => filters[filter]),
      ...(cursor ? [cursor.sort, cursor.id] : []),
    ]
    const rows = await db.rows<Row & { page_sort: string }>(
      statementFor(used, cursor !== undefined),
      values,
    )
    const last = rows.length > limit ? rows[limit - 1] : undefined
    return { rows: rows.slice(0, limit), next: last ? { sort: last.page_sort, id: last.id } : null }
  }
}

/**
 * One bit for each filter and one for the cursor: PostgreSQL cuts statement names at 63 bytes, so that names that spell
 * the filters out could collide.
 */
const combinationOf = <Filter extends string>(
  { filters }: ListDeclaration<Filter>,
  used: readonly Filter[],
  hasCursor: boolean,
): string =>
  (Object.keys(filters) as Filter[])
    .map((filter) => (used.includes(filter) ? '1' : '0'))
    .concat(hasCursor ? '1' : '0')
    .join('')

const listText = <Filter extends string>(
  { columns, table, where, sortColumn, filters }: ListDeclaration<Filter>,
  used: readonly Filter[],
  hasCursor: boolean,
): string => {
  const conditions = ['organization_id = $1', ...(where === undefined ? [] : [where])]
  let parameter = 2
  for (const filter of used) {
    parameter += 1
    conditions.push(filters[filter].replaceAll('?', `$${parameter}`))
  }
  if (hasCursor) {
    conditions.push(
      `(${sortColumn}, id) < ($${parameter + 1}::timestamptz, $${parameter + 2}::uuid)`,
    )
  }
  return `select id, ${columns},
       to_char(${sortColumn} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as page_sort
  from ${table}
 where ${conditions.join('\n   and ')}
 order by ${sortColumn} desc, id desc
 limit $2`
}
