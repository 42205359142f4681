import { CsvError, parse } from 'csv-parse/sync'
import type { RowProblem } from './batch-commands-problems.ts'

/** A contact's fields, as the heading of a file may name them. */
export const columns = [
  'external_id',
  'name',
  'phone_number',
  'source',
  'email',
  'company',
  'role',
  'city',
  'country',
] as const

export type Column = (typeof columns)[number]

const requiredColumns = ['external_id', 'name', 'phone_number'] as const satisfies readonly Column[]

/** One row: its number as a spreadsheet shows it, the heading being row 1, and its cells that are not empty. */
export interface CsvRow {
  readonly row: number
  readonly cells: Readonly<Partial<Record<Column, string>>>
}

export interface CsvFile {
  readonly rows: readonly CsvRow[]
  /** Of single rows; the rows are left out. */
  readonly problems: readonly RowProblem[]
}

/** A file none of which can be read. */
export interface UnreadableFile {
  readonly fault: readonly RowProblem[]
}

/** A quote that is never closed ends here instead of swallowing the file. */
const maxRecordCharacters = 100_000

/**
 * Reads CSV as spreadsheets write it: comma, semicolon or tab, cells in quotes over several lines, a byte order mark.
 * Columns are found by their heading, whatever its case, blanks and underscores.
 */
export const readCsv = (text: string): CsvFile | UnreadableFile => {
  const records = recordsOf(text)
  if ('fault' in records) return records
  const [heading, ...rest] = records.records
  if (!heading) return { fault: [inHeading('', 'required', 'The file is empty.')] }
  const found = columnsOf(heading)
  if ('fault' in found) return found
  const rows: CsvRow[] = []
  const problems: RowProblem[] = []
  for (const [index, record] of rest.entries()) {
    const row = index + 2
    if (record.every((cell) => cell === '')) continue
    if (record.length > heading.length) problems.push(tooManyCells(row, record, heading))
    else rows.push({ row, cells: cellsOf(record, found.columns) })
  }
  return { rows, problems }
}

const recordsOf = (text: string): { readonly records: string[][] } | UnreadableFile => {
  try {
    const records = parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      trim: true,
      relax_column_count: true,
      max_record_size: maxRecordCharacters,
    })
    return { records }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const row = typeof error['records'] === 'number' ? error['records'] + 1 : 1
    return { fault: [{ row, column: '', code: 'invalid_format', message: sentenceOf(error) }] }
  }
}

const openQuote = 'A quote is opened and never closed.'
const strayQuote =
  'A quote stands inside a cell; it must be doubled, and the cell be put in quotes.'

const sentences: Readonly<Partial<Record<string, string>>> = {
  CSV_QUOTE_NOT_CLOSED: openQuote,
  CSV_MAX_RECORD_SIZE: openQuote,
  CSV_INVALID_CLOSING_QUOTE: strayQuote,
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: strayQuote,
  INVALID_OPENING_QUOTE: strayQuote,
}

const sentenceOf = ({ code }: CsvError): string => sentences[code] ?? 'This is not CSV.'

const delimiters = [',', ';', '\t'] as const

/** Whichever stands most often in the heading, outside of quotes. */
const delimiterOf = (text: string): string => {
  const heading = text.slice(0, maxRecordCharacters).replaceAll(/"[^"]*"/g, '')
  const [line = ''] = heading.split(/\r\n|\r|\n/, 1)
  const counts = delimiters.map((each) => line.split(each).length)
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}

const columnsOf = (
  heading: readonly string[],
): { readonly columns: readonly Column[] } | UnreadableFile => {
  const names = heading.map((cell) => columnNamed(cell))
  if (names.every((name) => name === undefined)) return { fault: [noHeading] }
  const fault = heading.flatMap((cell, index) => {
    const name = names[index]
    if (name === undefined) return [inHeading(shown(cell), 'unknown_field', unknownColumn)]
    return names.indexOf(name) < index
      ? [inHeading(name, 'duplicate_item', 'This column is there twice.')]
      : []
  })
  const missing = requiredColumns.filter((column) => !names.includes(column))
  fault.push(...missing.map((name) => inHeading(name, 'required', 'This column is required.')))
  return fault.length > 0 ? { fault } : { columns: names.filter((name) => name !== undefined) }
}

const unknownColumn = `There is no such column; they are ${columns.join(', ')}.`

const noHeading: RowProblem = {
  row: 1,
  column: '',
  code: 'required',
  message: `The first row must name the columns: ${columns.join(', ')}.`,
}

const columnNamed = (cell: string): Column | undefined => {
  const plain = plainName(cell)
  return columns.find((column) => plainName(column) === plain)
}

const plainName = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_-]/g, '')

/** A heading is no secret, but it may be cut off well before a terminal is full. */
const shown = (cell: string): string => Array.from(cell).slice(0, 40).join('')

const cellsOf = (
  record: readonly string[],
  found: readonly Column[],
): Partial<Record<Column, string>> =>
  Object.fromEntries(
    found.flatMap((column, index) => {
      const cell = record[index] ?? ''
      return cell === '' ? [] : [[column, cell]]
    }),
  )

const inHeading = (column: string, code: string, message: string): RowProblem => ({
  row: 1,
  column,
  code,
  message,
})

const tooManyCells = (
  row: number,
  record: readonly string[],
  heading: readonly string[],
): RowProblem => ({
  row,
  column: '',
  code: 'invalid_format',
  message: `It has ${record.length} cells, the heading ${heading.length}.`,
})
