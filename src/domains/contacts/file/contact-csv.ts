import { CsvError, parse } from 'csv-parse/sync'
import { contactColumns as columns, type ImportColumn } from '../../../contract/console/imports.ts'
import type { RowProblem } from './row-problems.ts'

/** A contact's fields, as a file's heading may name them. */
export type Column = (typeof columns)[number]

const requiredColumns = ['external_id', 'name', 'phone_number'] as const satisfies readonly Column[]

/** One row: its number as a spreadsheet shows it (the heading is row 1), and its non-empty cells. */
export interface CsvRow {
  readonly row: number
  readonly cells: Readonly<Partial<Record<ImportColumn, string>>>
}

interface CsvFile {
  readonly rows: readonly CsvRow[]
  /** Errors of single rows; these rows are omitted. */
  readonly problems: readonly RowProblem[]
}

/** An unreadable file. */
interface UnreadableFile {
  readonly fault: readonly RowProblem[]
}

/** An unclosed quote ends here instead of swallowing the file; all fields of a contact need a tenth of this. */
export const maxRecordCharacters = 100_000

/**
 * Reads CSV as spreadsheets write it: comma, semicolon or tab, quoted cells over several lines, a byte order mark,
 * blank rows, empty columns at the right, Excel's `sep=;` before the heading. Columns are matched by their heading,
 * ignoring case, blanks and underscores.
 */
export const readCsv = (text: string): CsvFile | UnreadableFile => {
  const read = readRecords(text)
  if ('fault' in read) return read
  const [heading, ...rest] = read.records.filter(({ cells }) => cells.some((cell) => cell !== ''))
  if (!heading) return { fault: [problemAt(1, '', 'required', 'The file is empty.')] }
  const found = columnsOf(heading)
  if ('fault' in found) return found
  const rows: CsvRow[] = []
  const problems: RowProblem[] = []
  for (const record of rest) {
    const row = inColumns(record, found.columns)
    if ('problem' in row) problems.push(row.problem)
    else rows.push(row)
  }
  return { rows, problems }
}

/** The row's cells by their columns; a cell that stands in none is a problem. */
export const inColumns = (
  { row, cells }: CsvRecord,
  found: FoundColumns,
): CsvRow | { readonly problem: RowProblem } => {
  const extra = cells.findIndex((cell, index) => cell !== '' && !found[index])
  if (extra >= 0) return { problem: cellWithoutColumn(row, extra) }
  return { row, cells: cellsOf(cells, found) }
}

export interface CsvRecord {
  /** Counted as in a spreadsheet. */
  readonly row: number
  readonly cells: readonly string[]
}

/** The first line of a file that declares its own separator. */
const separatorLine = /^\uFEFF?"?sep=([,;\t])"?(?:\r\n|\r|\n)/i

interface CsvRecords {
  readonly records: readonly CsvRecord[]
  readonly delimiter: string
  /** The number of the row that would come next. */
  readonly nextRow: number
}

/** Where the text of a file that comes in portions goes on. */
interface Continuation {
  readonly delimiter: string
  readonly row: number
}

/** The records of a whole file, or of a portion of one that ends with a record. */
export const readRecords = (text: string, from?: Continuation): CsvRecords | UnreadableFile => {
  const [line = '', named] = from ? [] : (separatorLine.exec(text) ?? [])
  const firstRow = from?.row ?? (line === '' ? 1 : 2)
  const body = text.slice(line.length)
  const delimiter = from?.delimiter ?? named ?? delimiterOf(body)
  try {
    const records = parse(body, {
      bom: true,
      delimiter,
      trim: true,
      relax_column_count: true,
      max_record_size: maxRecordCharacters,
    })
    return {
      records: records.map((cells, index) => ({ row: index + firstRow, cells })),
      delimiter,
      nextRow: firstRow + records.length,
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const before = typeof error['records'] === 'number' ? error['records'] : 0
    return { fault: [problemAt(before + firstRow, '', 'invalid_format', sentenceOf(error))] }
  }
}

const openQuote = 'A quote is opened and never closed.'
const strayQuote =
  'A quote stands inside a cell; it must be doubled, and the cell be put in quotes.'

const sentences: Readonly<Partial<Record<string, string>>> = {
  CSV_QUOTE_NOT_CLOSED: openQuote,
  CSV_MAX_RECORD_SIZE:
    'The row is longer than 100,000 characters, or a quote in it is never closed.',
  CSV_INVALID_CLOSING_QUOTE: strayQuote,
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: strayQuote,
  INVALID_OPENING_QUOTE: strayQuote,
}

const sentenceOf = ({ code }: CsvError): string => sentences[code] ?? 'This is not CSV.'

const delimiters = [',', ';', '\t'] as const

/** The separator that occurs most often in the heading, outside of quotes. */
const delimiterOf = (text: string): string => {
  const start = text.slice(0, maxRecordCharacters).replaceAll(/"[^"]*"/g, '""')
  const line = start.split(/\r\n|\r|\n/).find((each) => /[^\s,;\uFEFF]/.test(each)) ?? ''
  const counts = delimiters.map((each) => line.split(each).length)
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Undefined for a column without a heading, which must be empty. */
type FoundColumns = readonly (ImportColumn | undefined)[]

const columnsOf = ({
  row,
  cells: heading,
}: CsvRecord): { readonly columns: FoundColumns } | UnreadableFile => {
  const names = heading.map((cell) => columnNamed(cell))
  if (names.every((name) => name === undefined)) {
    return { fault: [problemAt(row, '', 'required', noHeading)] }
  }
  const fault = heading.flatMap((cell, index) => {
    const name = names[index]
    if (cell === '') return []
    if (name === undefined) return [problemAt(row, shown(cell), 'unknown_field', unknownColumn)]
    return names.indexOf(name) < index
      ? [problemAt(row, name, 'duplicate_item', 'This column is there twice.')]
      : []
  })
  const missing = requiredColumns.filter((column) => !names.includes(column))
  fault.push(...missing.map((name) => problemAt(row, name, 'required', 'This column is required.')))
  return fault.length > 0 ? { fault } : { columns: names }
}

/**
 * Where the last whole record of a portion ends: after the last line end outside of quotes. The portion begins with a
 * record.
 */
export const endOfRecords = (text: string): number => {
  let isQuoted = false
  let end = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quoteCode) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (code === lineFeed) end = at + 1
    // A line end of Windows may be cut in two.
    else if (
      code === carriageReturn &&
      at + 1 < text.length &&
      text.charCodeAt(at + 1) !== lineFeed
    )
      end = at + 1
  }
  return end
}

const quoteCode = 0x22
const lineFeed = 0x0a
const carriageReturn = 0x0d

const unknownColumn = `There is no such column; they are ${columns.join(', ')}.`

const noHeading = `The first row must name the columns: ${columns.join(', ')}.`

/** The column that a cell of a heading names. */
const columnNamed = (cell: string): Column | undefined => {
  const plain = plainName(cell)
  return columns.find((column) => plainName(column) === plain)
}

const plainName = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_-]/g, '')

/** A heading is no secret, but is cut well before it fills a terminal. */
const shown = (cell: string): string => Array.from(cell).slice(0, 40).join('')

const cellsOf = (record: readonly string[], found: FoundColumns): CsvRow['cells'] =>
  Object.fromEntries(
    found.flatMap((column, index) => {
      const cell = record[index] ?? ''
      return column === undefined || cell === '' ? [] : [[column, cell]]
    }),
  )

const problemAt = (row: number, column: string, code: string, message: string): RowProblem => ({
  row,
  column,
  code,
  message,
})

const cellWithoutColumn = (row: number, index: number): RowProblem =>
  problemAt(row, '', 'invalid_format', `Its cell ${index + 1} stands in no column of the heading.`)
