import { ApiError } from '../../../contract/api-error.ts'
import { maxImportBytes, maxImportRows } from '../../../contract/console/imports.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'
import type { Transaction } from '../../../database/database.ts'
import { endOfRecords, maxRecordCharacters, readRecords, type CsvRecord } from './contact-csv.ts'
import { advanceImport, insertImportRows, lockImport, type ImportRow } from './import-store.ts'
import { describeProblems, type RowProblem } from './row-problems.ts'

interface Part {
  readonly position: number
  readonly text: string
  readonly isLast: boolean
}

/**
 * Reads the next part of a file as it comes: whole records are kept as rows, the rest waits for the next part. A part
 * that came before changes nothing. Undefined: there is no such import. Throws what the operator is told.
 */
export const addImportPart = async (
  tx: Transaction,
  organizationId: OrganizationId,
  importId: string,
  { position, text, isLast }: Part,
): Promise<ImportRow | undefined> => {
  const file = await lockImport(tx, organizationId, importId)
  if (!file) return undefined
  const { rest: _, ...known } = file
  if (position < file.parts) return known
  if (position > file.parts || file.status !== 'uploading')
    throw new ApiError('resource_state_conflict', 'This part of the file is not the next one.')
  const sizeBytes = file.size_bytes + Buffer.byteLength(text)
  if (sizeBytes > maxImportBytes)
    throw new ApiError('request_too_large', 'The file is larger than 10 MB: split it.')
  const whole = file.rest + text
  const readable = isLast ? whole.length : endOfRecords(whole)
  const read = readRecords(whole.slice(0, readable), continuationOf(file))
  if ('fault' in read) throw refused(read.fault)
  const { heading, rows } = belowHeading(file.heading, read.records)
  // The separator is that of the heading: a beginning without one is read again with the next part.
  const isRead = heading !== null
  const rest = isRead ? whole.slice(readable) : whole
  if (!isLast && rest.length > maxRecordCharacters) throw refused([unclosed(file.next_row)])
  const rowCount = file.row_count + rows.length
  if (rowCount > maxImportRows)
    throw new ApiError('request_too_large', 'The file has more than 100,000 rows: split it.')
  if (isLast && !heading) throw refused([empty])
  await insertImportRows(tx, organizationId, importId, rows)
  return advanceImport(tx, organizationId, importId, {
    status: isLast ? 'read' : 'uploading',
    size_bytes: sizeBytes,
    rest,
    delimiter: isRead ? read.delimiter : null,
    next_row: isRead ? read.nextRow : 1,
    heading,
    row_count: rowCount,
  })
}

const continuationOf = ({ delimiter, next_row: row }: ImportRow) =>
  delimiter === null ? undefined : { delimiter, row }

/** Blank rows are left out, before the heading and below it; a heading's blank cells at the right go as well. */
const belowHeading = (
  known: ImportRow['heading'],
  records: readonly CsvRecord[],
): { readonly heading: readonly string[] | null; readonly rows: readonly CsvRecord[] } => {
  const filled = records.filter(({ cells }) => cells.some((cell) => cell !== ''))
  if (known) return { heading: known, rows: filled }
  const [first, ...rows] = filled
  if (!first) return { heading: null, rows: [] }
  if (first.cells.length > maxColumns) throw refused([tooWide(first.row)])
  return {
    heading: first.cells.slice(0, first.cells.findLastIndex((cell) => cell !== '') + 1),
    rows,
  }
}

/** Columns of a file; a contact has nine. */
const maxColumns = 200

const unclosed = (row: number): RowProblem => ({
  row,
  column: '',
  code: 'invalid_format',
  message: 'The row is longer than 100,000 characters, or a quote in it is never closed.',
})

const tooWide = (row: number): RowProblem => ({
  row,
  column: '',
  code: 'too_many_items',
  message: `It has more than ${maxColumns} columns.`,
})

const empty: RowProblem = { row: 1, column: '', code: 'required', message: 'The file is empty.' }

const refused = (problems: readonly RowProblem[]): ApiError =>
  new ApiError('validation_error', describeProblems(problems).join('\n'), {
    fields: [{ path: 'text', code: 'invalid_format' }],
  })
