import type pg from 'pg'
import type { TableHead } from './archive-format.ts'

/** Tables in an order in which every foreign key finds its row, with their stored columns. */
export const listTables = async (
  client: pg.ClientBase,
  except: readonly string[],
): Promise<TableHead[]> => {
  const { rows } = await client.query<{ name: string; columns: string[]; needs: string[] }>(
    tablesText,
    [except],
  )
  return inOrder(rows).map(({ name, columns }) => ({ name, columns }))
}

const tablesText = `
  select t.relname as name,
         array(select a.attname::text
                 from pg_attribute a
                where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                order by a.attnum) as columns,
         array(select distinct r.relname::text
                 from pg_constraint f
                 join pg_class r on r.oid = f.confrelid
                where f.conrelid = t.oid and f.contype = 'f' and f.confrelid <> t.oid) as needs
    from pg_class t
   where t.relnamespace = current_schema()::regnamespace
     and t.relkind = 'r'
     and t.relname <> all ($1::text[])
   order by t.relname`

interface Needing {
  readonly name: string
  readonly needs: readonly string[]
}

/** Each after those it needs; throws for a cycle, which has no valid order. Exported for its test. */
export const inOrder = <Table extends Needing>(tables: readonly Table[]): Table[] => {
  const ordered: Table[] = []
  let waiting = [...tables]
  while (waiting.length > 0) {
    const names = new Set(waiting.map(({ name }) => name))
    const free = waiting.filter(({ needs }) => !needs.some((name) => names.has(name)))
    if (free.length === 0) throw new Error(`Foreign keys go in a circle: ${[...names].join(', ')}`)
    ordered.push(...free)
    waiting = waiting.filter((table) => !free.includes(table))
  }
  return ordered
}
