import type { OrganizationId } from '../../../contract/organization-id.ts'
import {
  lookup,
  sql,
  type Database,
  type Queryable,
  type Transaction,
} from '../../../database/database.ts'
import { isUuid } from '../../../runtime/ids.ts'
import type { RowProblem } from './row-problems.ts'

/** A file of contacts that an operator looks through. */
export interface ImportRow {
  readonly id: string
  readonly file_name: string
  readonly status: 'uploading' | 'read' | 'checked'
  readonly parts: number
  readonly size_bytes: number
  readonly delimiter: string | null
  readonly next_row: number
  readonly heading: readonly string[] | null
  readonly row_count: number
  readonly mapping: readonly (string | null)[] | null
  readonly country: string | null
  readonly purpose: 'contacts' | 'batch' | null
  readonly created_at: Date
}

const columns = `id, file_name, status, parts, size_bytes, delimiter, next_row, heading, row_count, mapping, country,
       purpose, created_at`

const forgetOthersStatement = sql(
  'import-store.forgetImportsOfAccount',
  `delete from contact_imports
    where organization_id = $1
      and account_id = $2`,
)

const insertStatement = sql(
  'import-store.insertImport',
  `insert into contact_imports (organization_id, id, account_id, file_name)
   values ($1, $2, $3, $4)
   returning ${columns}`,
)

/** The account's file from now on: an earlier one of it is forgotten, so that there are no more than accounts. */
export const insertImport = async (
  tx: Transaction,
  organizationId: OrganizationId,
  given: { readonly id: string; readonly accountId: string; readonly fileName: string },
): Promise<ImportRow> => {
  await tx.run(forgetOthersStatement, [organizationId, given.accountId])
  const row = await tx.row<ImportRow>(insertStatement, [
    organizationId,
    given.id,
    given.accountId,
    given.fileName,
  ])
  if (!row) throw new Error('An import was not kept.')
  return row
}

const findStatement = lookup(
  'import-store.findImport',
  `select ${columns}
     from contact_imports
    where organization_id = $1
      and id = $2`,
)

export const findImport = async (
  db: Queryable,
  organizationId: OrganizationId,
  importId: string,
): Promise<ImportRow | undefined> =>
  isUuid(importId) ? db.row<ImportRow>(findStatement, [organizationId, importId]) : undefined

const lockStatement = sql(
  'import-store.lockImport',
  `select ${columns}, rest
     from contact_imports
    where organization_id = $1
      and id = $2
      for update`,
)

/** As it stays until the transaction ends, with the text that is no whole record yet. */
export const lockImport = async (
  tx: Transaction,
  organizationId: OrganizationId,
  importId: string,
): Promise<(ImportRow & { readonly rest: string }) | undefined> =>
  isUuid(importId) ? tx.row(lockStatement, [organizationId, importId]) : undefined

const advanceStatement = sql(
  'import-store.advanceImport',
  `update contact_imports
      set parts      = parts + 1,
          status     = $3,
          size_bytes = $4,
          rest       = $5,
          delimiter  = $6,
          next_row   = $7,
          heading    = $8,
          row_count  = $9
    where organization_id = $1
      and id = $2
   returning ${columns}`,
)

export const advanceImport = async (
  tx: Transaction,
  organizationId: OrganizationId,
  importId: string,
  to: Pick<
    ImportRow,
    'status' | 'size_bytes' | 'delimiter' | 'next_row' | 'heading' | 'row_count'
  > & {
    readonly rest: string
  },
): Promise<ImportRow> => {
  const row = await tx.row<ImportRow>(advanceStatement, [
    organizationId,
    importId,
    to.status,
    to.size_bytes,
    to.rest,
    to.delimiter,
    to.next_row,
    to.heading,
    to.row_count,
  ])
  if (!row) throw new Error('A locked import is gone.')
  return row
}

const settleStatement = sql(
  'import-store.settleImport',
  `update contact_imports
      set status = 'checked', mapping = $3, country = $4, purpose = $5
    where organization_id = $1
      and id = $2`,
)

/** Keeps by what rules its rows were checked. */
export const settleImport = async (
  tx: Transaction,
  organizationId: OrganizationId,
  importId: string,
  rules: {
    readonly mapping: readonly (string | null)[]
    readonly country: string | undefined
    readonly purpose: 'contacts' | 'batch'
  },
): Promise<void> => {
  const { mapping, country, purpose } = rules
  await tx.run(settleStatement, [organizationId, importId, mapping, country ?? null, purpose])
}

const deleteStatement = sql(
  'import-store.deleteImport',
  `delete from contact_imports
    where organization_id = $1
      and id = $2`,
)

export const deleteImport = async (
  tx: Transaction,
  organizationId: OrganizationId,
  importId: string,
): Promise<boolean> =>
  isUuid(importId) && (await tx.run(deleteStatement, [organizationId, importId])) > 0

const purgeStatement = sql(
  'import-store.purgeImports',
  `delete from contact_imports
    where (organization_id, id) in (
          select organization_id, id
            from contact_imports
           where created_at < now() - interval '1 day'
           order by created_at
           limit $1)`,
)

/** Deletes up to `limit` files that nobody has imported within a day; how many. */
export const purgeImports = (db: Database, limit: number): Promise<number> =>
  db.run(purgeStatement, [limit])

/** A row of the file, and what becomes of it. */
export interface ImportedRow {
  readonly row: number
  readonly cells: readonly string[]
  readonly verdict: Verdict | null
  readonly problems: readonly Omit<RowProblem, 'row'>[] | null
}

export type Verdict = 'new' | 'updated' | 'duplicate' | 'invalid'

const insertRowsStatement = sql(
  'import-store.insertImportRows',
  `insert into contact_import_rows (organization_id, import_id, row, cells)
   select $1, $2, i.row, array(select jsonb_array_elements_text(i.cells))
     from jsonb_to_recordset($3::jsonb) as i (row int, cells jsonb)`,
)

export const insertImportRows = async (
  tx: Transaction,
  organizationId: OrganizationId,
  importId: string,
  rows: readonly { readonly row: number; readonly cells: readonly string[] }[],
): Promise<void> => {
  if (rows.length > 0)
    await tx.run(insertRowsStatement, [organizationId, importId, JSON.stringify(rows)])
}

const rowColumns = 'row, cells, verdict, problems'

const listRowsStatement = sql(
  'import-store.listImportRows',
  `select ${rowColumns}
     from contact_import_rows
    where organization_id = $1
      and import_id = $2
      and row > $3
    order by row
    limit $4`,
)

/** Up to `limit` rows below the row `after`, in order. */
export const listImportRows = (
  db: Queryable,
  organizationId: OrganizationId,
  importId: string,
  after: number,
  limit: number,
): Promise<ImportedRow[]> =>
  db.rows<ImportedRow>(listRowsStatement, [organizationId, importId, after, limit])

const listRefusedStatement = sql(
  'import-store.listRefusedRows',
  `select ${rowColumns}
     from contact_import_rows
    where organization_id = $1
      and import_id = $2
      and row > $3
      and verdict in ('duplicate', 'invalid')
    order by row
    limit $4`,
)

/** The same of those that are refused. */
export const listRefusedRows = (
  db: Queryable,
  organizationId: OrganizationId,
  importId: string,
  after: number,
  limit: number,
): Promise<ImportedRow[]> =>
  db.rows<ImportedRow>(listRefusedStatement, [organizationId, importId, after, limit])

const mendStatement = sql(
  'import-store.mendImportRow',
  `update contact_import_rows
      set cells = $4
    where organization_id = $1
      and import_id = $2
      and row = $3`,
)

export const mendImportRow = async (
  tx: Transaction,
  organizationId: OrganizationId,
  importId: string,
  { row, cells }: Pick<ImportedRow, 'row' | 'cells'>,
): Promise<void> => {
  await tx.run(mendStatement, [organizationId, importId, row, cells])
}

const judgeStatement = sql(
  'import-store.judgeImportRows',
  `update contact_import_rows r
      set verdict = i.verdict, problems = i.problems
     from jsonb_to_recordset($3::jsonb) as i (row int, verdict text, problems jsonb)
    where r.organization_id = $1
      and r.import_id = $2
      and r.row = i.row`,
)

/** Writes what becomes of rows. */
export const judgeImportRows = async (
  tx: Transaction,
  organizationId: OrganizationId,
  importId: string,
  verdicts: readonly Omit<ImportedRow, 'cells'>[],
): Promise<void> => {
  await tx.run(judgeStatement, [organizationId, importId, JSON.stringify(verdicts)])
}

const forgetStatement = sql(
  'import-store.forgetImportedNumber',
  `delete from contact_import_rows
    where organization_id = $1
      and cells @> array[$2]`,
)

/** Deletes the rows of a person who is erased, by the number. */
export const forgetImportedNumber = async (
  tx: Transaction,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<void> => {
  await tx.run(forgetStatement, [organizationId, phoneNumber])
}
