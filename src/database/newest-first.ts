import { list, type Queryable, type Statement } from './database.ts'

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
  /** All selected columns besides the id, including the sort column and all columns of the filters. */
  readonly columns: string
  readonly table: string
  readonly sortColumn: string
  /** Each filter's condition, with `?` for its value. */
  readonly filters: Readonly<Record<Filter, string>>
  /** Ways to read the list: the first whose filters are given is used, the last one without any. */
  readonly ways: readonly Way<Filter>[]
  /**
   * A filter by a column of few values, which is before the sort column in the indexes. Without this filter the
   * rows of each value are read in their order and merged, so that one index serves the list with and without the
   * filter.
   */
  readonly merged?: { readonly filter: Filter; readonly values: readonly string[] }
}

interface Way<Filter extends string> {
  readonly filter?: Filter
  /** Must be given as well. */
  readonly and?: Filter
  /**
   * A constant condition, if any, worded as in the predicate of the intended index: of partial indexes PostgreSQL
   * uses only those whose predicate matches these words.
   */
  readonly where?: string
  /**
   * The filter never leaves more than a thousand rows: these are read completely, and the other filters apply
   * afterwards.
   */
  readonly isNarrow?: true
}

/**
 * A list of one organization's rows, newest first by (sort column, id). One statement is prepared for each
 * combination of filters that the declaration allows. Each is written so that only one index fits, whatever the
 * planner knows of the table: statistics may be missing, and a generic plan ignores the values. The position has
 * microseconds, because a JavaScript Date would skip rows.
 */
export const newestFirst = <Row extends { id: string }, Filter extends string>(
  declaration: ListDeclaration<Filter>,
): ((db: Queryable, request: ListRequest<Filter>) => Promise<Page<Row>>) => {
  const statements = new Map<string, Statement>()
  const statementFor = (used: readonly Filter[], hasCursor: boolean): Statement => {
    const key = [...used, ...(hasCursor ? ['cursor'] : [])].join('+')
    const known = statements.get(key)
    if (known) return known
    const made = list(
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

type ListPage<Row, Filter extends string> = (
  db: Queryable,
  request: ListRequest<Filter>,
) => Promise<Page<Row>>

/** One list of several with the same sort column, newest first: for rows that stand in several indexes. */
export const newestOf =
  <Row extends { id: string }, Filter extends string>(
    lists: readonly ListPage<Row, Filter>[],
  ): ListPage<Row, Filter> =>
  async (db, request) => {
    const pages = await Promise.all(lists.map((each) => each(db, request)))
    // Each row of a page has its position beside its columns.
    const rows = pages.flatMap((page) => page.rows as readonly (Row & { page_sort: string })[])
    rows.sort((a, b) => compare(b.page_sort, a.page_sort) || compare(b.id, a.id))
    const shown = rows.slice(0, request.limit)
    const last = shown.at(-1)
    const isMore = rows.length > shown.length || pages.some((page) => page.next !== null)
    return { rows: shown, next: last && isMore ? { sort: last.page_sort, id: last.id } : null }
  }

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/**
 * One bit for each filter and one for the cursor: PostgreSQL cuts statement names at 63 bytes, so that names with
 * all filters could collide.
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
  declaration: ListDeclaration<Filter>,
  used: readonly Filter[],
  hasCursor: boolean,
): string => {
  const { table, sortColumn, filters, ways, merged } = declaration
  const isUsed = (filter: Filter | undefined) => filter === undefined || used.includes(filter)
  const way = ways.find(({ filter, and }) => isUsed(filter) && isUsed(and))
  const own = ['organization_id = $1', ...(way?.where === undefined ? [] : [way.where])]
  const conditionOf = (filter: Filter): string =>
    filters[filter].replaceAll('?', `$${used.indexOf(filter) + 3}`)
  const behindCursor = hasCursor
    ? [`(${sortColumn}, id) < ($${used.length + 3}::timestamptz, $${used.length + 4}::uuid)`]
    : []

  if (way?.isNarrow && way.filter !== undefined) {
    const others = used.filter((filter) => filter !== way.filter).map(conditionOf)
    const few = rowsOf(declaration, table, [...own, conditionOf(way.filter)])
    return `with few as materialized (${few})
${pageOf(declaration, 'few', [...others, ...behindCursor])}`
  }
  const conditions = [...own, ...used.map(conditionOf), ...behindCursor]
  if (merged === undefined || used.includes(merged.filter))
    return pageOf(declaration, table, conditions)
  const parts = merged.values.map((value) => {
    const ofValue = filters[merged.filter].replaceAll('?', `'${value}'`)
    return `(${rowsOf(declaration, table, [...conditions, ofValue])}${newest(declaration)})`
  })
  return pageOf(declaration, `(${parts.join('\n union all\n')}) as merged`, [])
}

type Shape = Pick<ListDeclaration<string>, 'columns' | 'sortColumn'>

const rowsOf = ({ columns }: Shape, table: string, conditions: readonly string[]): string =>
  `select id, ${columns}
  from ${table}${whereAll(conditions)}`

const pageOf = (shape: Shape, table: string, conditions: readonly string[]): string =>
  `select id, ${shape.columns},
       to_char(${shape.sortColumn} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as page_sort
  from ${table}${whereAll(conditions)}${newest(shape)}`

const whereAll = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `\n where ${conditions.join('\n   and ')}`

const newest = ({ sortColumn }: Shape): string => `
 order by ${sortColumn} desc, id desc
 limit $2`
