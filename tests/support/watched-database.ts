import {
  sql,
  type Database,
  type Queryable,
  type Statement,
  type Transaction,
} from '../../src/database/database.ts'

/** A database that explains every statement, as it runs, before it is sent. */
export interface WatchedDatabase extends Database {
  /** What each statement read, by its name: the maximum of all its runs. */
  readonly looks: ReadonlyMap<string, Look>
}

/** Pages of tables and indexes, and rows read from them, including those that a filter then dropped. */
export interface Look {
  readonly pages: number
  readonly rows: number
  /** The scans of the run with the most rows. */
  readonly scans: string
}

/**
 * How a prepared statement is planned: for its values, as at its first use, or once for all values, as at its
 * hundredth.
 */
const planModes = ['force_custom_plan', 'force_generic_plan'] as const

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

/**
 * `db` has one connection, so that all runs share its prepared statements. Each statement is run twice more than
 * needed, and these runs are rolled back.
 */
export const watchDatabase = (db: Database): WatchedDatabase => {
  const looks = new Map<string, Look>()
  const prepared = new Map<string, string>()

  const watch = async (tx: Transaction, statement: Statement, values: readonly unknown[]) => {
    const known = prepared.get(statement.name)
    const name = known ?? `watched_${prepared.size}`
    if (known === undefined) {
      prepared.set(statement.name, name)
      await send(tx, `prepare ${name} as ${statement.text}`)
    }
    const given = values.length === 0 ? '' : `(${values.map(literalOf).join(', ')})`
    for (const mode of planModes) {
      await send(tx, 'savepoint watched')
      await send(tx, `set local plan_cache_mode to ${mode}`)
      const [row] = await send<{ 'QUERY PLAN': readonly [{ Plan: PlanNode }] }>(
        tx,
        `explain (analyze, buffers, costs off, timing off, format json) execute ${name}${given}`,
      )
      await send(tx, 'rollback to savepoint watched')
      const plan = row?.['QUERY PLAN'][0].Plan
      if (!plan) throw new Error(`${statement.name} has no plan`)
      looks.set(statement.name, larger(lookOf(plan), looks.get(statement.name)))
    }
  }

  /** Pipelined statements are watched one after the other, each before those behind it have begun. */
  const watchIn = (tx: Transaction): Transaction => {
    let last: Promise<unknown> = Promise.resolve()
    const inTurn = <T>(
      statement: Statement,
      values: readonly unknown[],
      run: () => Promise<T>,
    ): Promise<T> => {
      const answer = last.then(async () => {
        await watch(tx, statement, values)
        return run()
      })
      last = answer.catch(() => undefined)
      return answer
    }
    return {
      withCommit: (...statement) => tx.withCommit(...statement),
      afterCommit: (hook) => tx.afterCommit(hook),
      hintAfterCommit: (...hint) => tx.hintAfterCommit(...hint),
      rows: (statement, values) => inTurn(statement, values, () => tx.rows(statement, values)),
      row: (statement, values) => inTurn(statement, values, () => tx.row(statement, values)),
      run: (statement, values) => inTurn(statement, values, () => tx.run(statement, values)),
    }
  }

  const alone = <T>(ask: (tx: Queryable) => Promise<T>): Promise<T> =>
    db.transaction((tx) => ask(watchIn(tx)))
  return {
    ...db,
    looks,
    // Statements that were not awaited inside are awaited before the commit, which here leaves later than its
    // statements.
    transaction: (work) =>
      db.transaction(async (tx) => {
        const asked: Promise<unknown>[] = []
        const watched = watchIn(tx)
        const note = <T>(answer: Promise<T>): Promise<T> => {
          asked.push(answer)
          return answer
        }
        const result = await work({
          withCommit: (...statement) => watched.withCommit(...statement),
          afterCommit: (hook) => watched.afterCommit(hook),
          hintAfterCommit: (...hint) => watched.hintAfterCommit(...hint),
          rows: (statement, values) => note(watched.rows(statement, values)),
          row: (statement, values) => note(watched.row(statement, values)),
          run: (statement, values) => note(watched.run(statement, values)),
        })
        await Promise.all(asked)
        return result
      }),
    rows: (statement, values) => alone((tx) => tx.rows(statement, values)),
    row: (statement, values) => alone((tx) => tx.row(statement, values)),
    run: (statement, values) => alone((tx) => tx.run(statement, values)),
  }
}

const lookOf = (plan: PlanNode): Look => {
  const scans = scansOf(plan)
  return {
    pages: pagesOf(plan),
    rows: scans.reduce((rows, scan) => rows + rowsOf(scan), 0),
    scans: scans
      .map((scan) =>
        [
          `  ${scan['Node Type']} ${scan['Index Name'] ?? scan['Relation Name']}`,
          `${rowsOf(scan)} rows, ${pagesOf(scan)} pages`,
          scan['Index Cond'] ?? '',
        ].join(': '),
      )
      .join('\n'),
  }
}

const larger = (look: Look, known: Look | undefined): Look =>
  known === undefined || look.pages + look.rows > known.pages + known.rows ? look : known

/** In a bitmap scan the index part has the rows. */
const scansOf = (node: PlanNode): PlanNode[] => [
  ...(node['Node Type'].includes('Scan') &&
  (node['Index Name'] !== undefined || node['Node Type'] === 'Seq Scan')
    ? [node]
    : []),
  ...(node.Plans ?? []).flatMap(scansOf),
]

const rowsOf = (node: PlanNode): number =>
  node['Actual Loops'] *
  (node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0))

const pagesOf = (node: PlanNode): number => node['Shared Hit Blocks'] + node['Shared Read Blocks']

/** Unnamed: the connection does not keep a text that is sent once. */
const send = <Row extends object>(tx: Queryable, text: string): Promise<Row[]> =>
  tx.rows<Row>(sql('', text), [])

const literalOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  return `'${textOf(value).replaceAll("'", "''")}'`
}

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return `{${value.map(elementOf).join(',')}}`
  if (value instanceof Date) return value.toISOString()
  if (Buffer.isBuffer(value)) return String.raw`\x${value.toString('hex')}`
  return String(value)
}

const elementOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  const text = Array.isArray(value) ? textOf(value) : textOf(value).replaceAll(/(["\\])/g, '\\$1')
  return Array.isArray(value) ? text : `"${text}"`
}
