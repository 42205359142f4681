import { setImmediate } from 'node:timers/promises'
import type { CountryCode } from 'libphonenumber-js/max'
import type { ImportColumn } from '../../../contract/console/imports.ts'
import { ApiError, invalidField } from '../../../contract/api-error.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'
import type { Queryable, Transaction } from '../../../database/database.ts'
import { isNumberedCountry } from '../../../numbering/national-number.ts'
import type { CallingPolicy } from '../../organizations/calling-policy.ts'
import { judgeRecipients } from '../upsert-recipients.ts'
import { checkRows, type SeenPeople } from './check-rows.ts'
import { inColumns, type CsvRow } from './contact-csv.ts'
import {
  judgeImportRows,
  listImportRows,
  mendImportRow,
  settleImport,
  type ImportedRow,
  type ImportRow,
  type Verdict,
} from './import-store.ts'
import { conflictAt, type RowProblem } from './row-problems.ts'

/** A row that the operator has mended: the new text of some of its fields. */
interface Fix {
  readonly row: number
  readonly cells: Readonly<Partial<Record<ImportColumn, string>>>
}

interface ImportRules {
  /** The contact's field of each column of the heading; null for a column that is left out. */
  readonly mapping: readonly (ImportColumn | null)[]
  /** ISO 3166; numbers without + are read as those of it. */
  readonly country: string | undefined
  readonly purpose: 'contacts' | 'batch'
  /** Given where numbers must be allowed by it. */
  readonly policy: CallingPolicy | undefined
}

/** What becomes of the rows, as `outdial contact import --check` counts them: `ready` are the new and the updated. */
interface ImportCounts {
  readonly rows: number
  readonly ready: number
  readonly updated: number
  readonly duplicate: number
  readonly invalid: number
}

/** Rows that are judged together; other work of this thread has its turn in between. */
const maxPortion = 500

/** Mends rows, then judges every row of the file by the rules of `outdial contact import` and keeps the verdicts. */
export const checkImport = async (
  tx: Transaction,
  organizationId: OrganizationId,
  file: ImportRow,
  rules: ImportRules,
  fixes: readonly Fix[],
  tell: (rows: number) => void = () => {},
): Promise<ImportCounts> => {
  checkMapping(file, rules.mapping)
  const country = countryOf(rules.country)
  for (const fix of fixes) await mend(tx, organizationId, file, rules.mapping, fix)
  await settleImport(tx, organizationId, file.id, { ...rules, country })
  const counts = { new: 0, updated: 0, duplicate: 0, invalid: 0 }
  const seen: SeenPeople = new Map()
  let judged = 0
  for await (const rows of portionsOf(tx, organizationId, file.id)) {
    const verdicts = await judge(tx, organizationId, rows, { ...rules, country }, seen)
    for (const { verdict } of verdicts) counts[verdict] += 1
    await judgeImportRows(tx, organizationId, file.id, verdicts)
    judged += rows.length
    tell(judged)
    await setImmediate()
  }
  const { new: added, ...others } = counts
  return { rows: file.row_count, ready: added + counts.updated, ...others }
}

/** Every row of a file, in portions. */
export async function* portionsOf(
  db: Queryable,
  organizationId: OrganizationId,
  importId: string,
): AsyncGenerator<ImportedRow[], void, undefined> {
  let after = 0
  for (;;) {
    const rows = await listImportRows(db, organizationId, importId, after, maxPortion)
    const last = rows.at(-1)
    if (!last) return
    after = last.row
    yield rows
  }
}

/** One of these says how a contact is called. */
const nameColumns = ['name', 'first_name', 'last_name'] as const

const checkMapping = (file: ImportRow, mapping: ImportRules['mapping']): void => {
  if (mapping.length !== (file.heading ?? []).length)
    throw invalidField(
      'mapping',
      'invalid_format',
      'must have one item for each column of the file',
    )
  const named = mapping.filter((column) => column !== null)
  if (new Set(named).size < named.length)
    throw invalidField('mapping', 'duplicate_item', 'must name each field once')
  const isNamed = nameColumns.some((column) => named.includes(column))
  const missing = [
    ...(isNamed ? [] : ['name']),
    ...(named.includes('phone_number') ? [] : ['phone_number']),
  ]
  if (missing.length > 0)
    throw invalidField('mapping', 'required', `must name ${missing.join(', ')}`)
}

const countryOf = (given: string | undefined): CountryCode | undefined => {
  const country = given?.toUpperCase()
  if (country === undefined || isNumberedCountry(country)) return country
  throw invalidField('country', 'invalid_format', 'must be a code of ISO 3166')
}

const mend = async (
  tx: Transaction,
  organizationId: OrganizationId,
  file: ImportRow,
  mapping: ImportRules['mapping'],
  fix: Fix,
): Promise<void> => {
  const [row] = await listImportRows(tx, organizationId, file.id, fix.row - 1, 1)
  if (row?.row !== fix.row)
    throw new ApiError('resource_state_conflict', `The file has no row ${fix.row}.`)
  const cells = mapping.map((_, index) => row.cells[index] ?? '')
  for (const [column, text] of Object.entries(fix.cells)) {
    const index = mapping.findIndex((each) => each === column)
    if (index < 0)
      throw new ApiError('resource_state_conflict', `No column of the file is the ${column}.`)
    cells[index] = text
  }
  // Cells beyond the heading stay, and are told.
  const beyond = row.cells.slice(mapping.length)
  await mendImportRow(tx, organizationId, file.id, { row: row.row, cells: [...cells, ...beyond] })
}

type JudgedRow = Omit<ImportedRow, 'cells'> & { readonly verdict: Verdict }

const judge = async (
  db: Queryable,
  organizationId: OrganizationId,
  rows: readonly ImportedRow[],
  {
    mapping,
    country,
    policy,
  }: Omit<ImportRules, 'country'> & {
    readonly country: CountryCode | undefined
  },
  seen: SeenPeople,
): Promise<JudgedRow[]> => {
  const problems = new Map<number, RowProblem[]>()
  const blame = (found: readonly RowProblem[]): void => {
    for (const problem of found)
      problems.set(problem.row, [...(problems.get(problem.row) ?? []), problem])
  }
  const whole = rows.flatMap((row): CsvRow[] => {
    const read = mappedRow(row, mapping)
    if (!('problem' in read)) return [read]
    blame([read.problem])
    return []
  })
  const { valid, problems: found } = checkRows(
    whole,
    { country, mayLackIdentity: true, ...(policy && { policy }) },
    seen,
  )
  blame(found)
  const inputs = valid.map(({ input }) => input)
  const answers = await judgeRecipients(db, organizationId, inputs)
  const known = new Set<number>()
  for (const [index, { row }] of valid.entries()) {
    const answer = answers[index]
    if (answer === 'known') known.add(row)
    if (typeof answer === 'object') blame([conflictAt(row, answer.holder)])
  }
  return rows.map(({ row }) => {
    const told = problems.get(row)
    if (!told) return { row, verdict: known.has(row) ? 'updated' : 'new', problems: null }
    const isDuplicate = told.some(({ code }) => code === 'duplicate_item')
    return {
      row,
      verdict: isDuplicate ? 'duplicate' : 'invalid',
      problems: told.map(({ column, code, message }) => ({ column, code, message })),
    }
  })
}

/** The row's cells by the contact's fields. A column that is left out may hold anything. */
const mappedRow = (
  { row, cells }: Pick<ImportedRow, 'row' | 'cells'>,
  mapping: readonly (string | null)[],
): ReturnType<typeof inColumns> => {
  const kept = cells.map((cell, index) => (mapping[index] === null ? '' : cell))
  return inColumns(
    { row, cells: kept },
    mapping.map((column) => (column as ImportColumn | null) ?? undefined),
  )
}

/** The mended text of a row by the contact's fields, as operators see it. */
export const fieldsOf = (
  row: ImportedRow,
  { mapping }: Pick<ImportRow, 'mapping'>,
): Partial<Record<string, string>> =>
  Object.fromEntries(
    (mapping ?? []).flatMap((column, index) =>
      column === null ? [] : [[column, row.cells[index] ?? '']],
    ),
  )
