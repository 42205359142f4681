import type pg from 'pg'

/** More rows than any test creates by requests. */
export interface RowCopies {
  readonly table: string
  /** Of the row that is copied. */
  readonly id: string
  readonly count: number
  /** SQL by column for what differs; `n` is the number of the copy. */
  readonly differences: Readonly<Record<string, string>>
}

/** Copies a row within its table, with any columns. */
export const copyRows = async (
  database: pg.Client,
  { table, id, count, differences }: RowCopies,
): Promise<void> => {
  const { rows } = await database.query<{ name: string }>(
    `select column_name as name from information_schema.columns
      where table_schema = current_schema() and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  )
  const columns = rows.map(({ name }) => name)
  const values = columns.map((name) => differences[name] ?? `source.${name}`)
  await database.query(
    `insert into ${table} (${columns.join(', ')})
     select ${values.join(', ')} from ${table} source, generate_series(1, ${count}) n
      where source.id = $1`,
    [id],
  )
}
