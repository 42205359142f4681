import { stringify } from 'csv-stringify/sync'
import type { Command } from 'commander'
import { UsageError, type CliContext } from './cli-context.ts'
import { parseWholeNumber } from './option-values.ts'
import { plainText } from '../runtime/plain-text.ts'
import { show, tellCsv, type OutputOptions, type Piece } from './terminal/output.ts'
import { withOrganization } from './require-organization.ts'
import { table } from './terminal/table.ts'

export interface ListOptions extends OutputOptions {
  readonly org?: string
  readonly limit: number
  readonly csv?: true
}

const defaultLimit = 20
/** More than a person reads; `--csv` with this limit writes complete files, page by page. */
const maxLimit = 100_000

/** `--org`, `--limit`, `--csv` and `--json` of a command that lists. */
export const withListOptions = (command: Command): Command =>
  withOrganization(command)
    .option('--limit <n>', 'how many, newest first', listLimit, defaultLimit)
    .option('--csv', 'print CSV, safe for spreadsheets')
    .option('--json', 'print JSON')

const listLimit = (text: string): number => {
  const limit = parseWholeNumber(text)
  if (limit < 1 || limit > maxLimit) throw new UsageError(`--limit must be 1 to ${maxLimit}.`)
  return limit
}

interface Listed {
  /** In the contract's format. */
  readonly resources: readonly object[]
  readonly heading: readonly string[]
  readonly rows: readonly (readonly Piece[])[]
  readonly whenEmpty: string
}

/** A list as JSON, as CSV, or as a table. */
export const showList = (context: CliContext, options: ListOptions, listed: Listed): void => {
  if (options.csv && options.json) throw new UsageError('Choose one of --csv and --json.')
  if (options.csv) return tellCsv(context, csvOf(listed.resources))
  show(context, options, listed.resources, (width) =>
    table(listed.heading, listed.rows, listed.whenEmpty, width),
  )
}

/**
 * The members of all resources as columns, in the first resource's order. A cell that a spreadsheet would run as a
 * formula is prefixed with a quote; an E.164 number stays unchanged, so that the file can be imported again.
 */
export const csvOf = (resources: readonly object[]): string => {
  const columns = [...new Set(resources.flatMap((resource) => Object.keys(resource)))]
  const rows = resources.map((resource) => {
    const members: Readonly<Record<string, unknown>> = { ...resource }
    return columns.map((column) => cellOf(members[column]))
  })
  return stringify([columns, ...rows]).trimEnd()
}

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return withoutFormula(plainText(typeof value === 'string' ? value : JSON.stringify(value)))
}

/** Also their full-width forms, which spreadsheets read alike, and after blanks, which they drop. */
const formulaStart = /^[\s]*[=+\-@\t\r＝＋－＠]/
const e164 = /^\+\d{1,15}$/

const withoutFormula = (text: string): string =>
  formulaStart.test(text) && !e164.test(text) ? `'${text}` : text

interface ListedPage<Row, Position> {
  readonly rows: readonly Row[]
  readonly next: Position | null
}

const pageSize = 200

/** Up to `limit` rows, a page at a time. */
export const readPages = async <Row, Position>(
  limit: number,
  readPage: (limit: number, cursor: Position | undefined) => Promise<ListedPage<Row, Position>>,
): Promise<Row[]> => {
  const rows: Row[] = []
  let cursor: Position | undefined
  while (rows.length < limit) {
    const page = await readPage(Math.min(pageSize, limit - rows.length), cursor)
    rows.push(...page.rows)
    if (page.next === null) break
    cursor = page.next
  }
  return rows
}
