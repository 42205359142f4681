import { stringify } from 'csv-stringify/sync'
import { ApiError, notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { ImportColumn } from '../../contract/console/imports.ts'
import type { PersonInput } from '../../domains/contacts/person-input.ts'
import { batchResource } from '../../domains/batches/batch-resource.ts'
import { draftBatches } from '../../domains/batches/run-file.ts'
import {
  acceptedPortions,
  requireChecked,
} from '../../domains/contacts/file/accepted-recipients.ts'
import { addImportPart as addPart } from '../../domains/contacts/file/add-import-part.ts'
import { checkImport as check, fieldsOf } from '../../domains/contacts/file/check-import.ts'
import { usualColumns } from '../../domains/contacts/file/usual-columns.ts'
import {
  deleteImport as forget,
  findImport,
  insertImport,
  listImportRows,
  listRefusedRows as listRefused,
  lockImport,
  type ImportRow,
} from '../../domains/contacts/file/import-store.ts'
import { findImportWork } from '../../domains/contacts/file/import-work.ts'
import { upsertRecipients } from '../../domains/contacts/upsert-recipients.ts'
import { findOrganization } from '../../domains/organizations/organization-store.ts'
import { newId } from '../../runtime/ids.ts'
import { note, sessionOf, type ConsoleHandler } from '../console-handler.ts'
import { requireImport, lastingContext, workOn } from './import-work.ts'

const stateOf = (row: ImportRow) => ({
  id: row.id,
  file_name: row.file_name,
  status: row.status,
  parts: row.parts,
  size_bytes: row.size_bytes,
  row_count: row.row_count,
  heading: [...(row.heading ?? [])],
  mapping: row.mapping
    ? row.mapping.map((each) => each as ImportColumn | null)
    : usualColumns(row.heading ?? []),
  created_at: formatDateTime(row.created_at),
})

export const createImport: ConsoleHandler<'createImport'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const given = { id: newId(), accountId: sessionOf(context).userId, fileName: body.file_name }
  return stateOf(await insertImport(db, organizationId, given))
}

export const addImportPart: ConsoleHandler<'addImportPart'> = async (
  { params, body },
  { db, organizationId },
) => {
  const { position, text, is_last: isLast } = body
  const row = await addPart(db, organizationId, params.import_id, { position, text, isLast })
  if (!row) throw notFound()
  return stateOf(row)
}

/** Rows of the file that are shown before it is checked. */
const sampleRows = 5

export const getImport: ConsoleHandler<'getImport'> = async (
  { params },
  { db, organizationId },
) => {
  const row = await findImport(db, organizationId, params.import_id)
  if (!row) throw notFound()
  const rows = await listImportRows(db, organizationId, row.id, 0, sampleRows)
  return { ...stateOf(row), sample: rows.map(({ cells }) => [...cells]) }
}

export const deleteImport: ConsoleHandler<'deleteImport'> = async (
  { params },
  { db, organizationId },
) => {
  if (!(await forget(db, organizationId, params.import_id))) throw notFound()
  return { status: 'done' }
}

export const checkImport: ConsoleHandler<'checkImport'> = async ({ params, body }, context) => {
  const { organizationId } = context
  const { mapping, country, purpose, fixes } = body
  const found = await requireImport(context.db, organizationId, params.import_id)
  if (found.status === 'uploading')
    throw new ApiError('resource_state_conflict', 'The file is not uploaded yet.')
  return workOn(
    context,
    found,
    'check',
    async (tx, tell) => {
      const [file, organization] = await Promise.all([
        lockImport(tx, organizationId, found.id),
        findOrganization(tx, organizationId),
      ])
      if (!file || !organization) throw notFound()
      const policy = purpose === 'batch' ? organization.policy : undefined
      const rules = { mapping, country, purpose, policy }
      return check(tx, organizationId, file, rules, fixes, tell)
    },
    (counts) => counts,
  )
}

export const getImportWork: ConsoleHandler<'getImportWork'> = async (
  { params },
  { db, organizationId },
) => {
  const found = await findImportWork(db, organizationId, params.import_id)
  if (found) return found
  const { row_count: total } = await requireImport(db, organizationId, params.import_id)
  return { status: 'none', done: 0, total }
}

/** Refused rows that are shown at once, and those of one page of the file of them. */
const shownRows = 100
const exportedRows = 1_000

export const listRefusedRows: ConsoleHandler<'listRefusedRows'> = async (
  { params, query },
  { db, organizationId },
) => {
  const file = await findImport(db, organizationId, params.import_id)
  if (!file) throw notFound()
  const rows = await listRefused(db, organizationId, file.id, query.after, shownRows)
  return {
    data: rows.map((row) => ({
      row: row.row,
      verdict: row.verdict === 'duplicate' ? ('duplicate' as const) : ('invalid' as const),
      cells: fieldsOf(row, file),
      problems: [...(row.problems ?? [])],
    })),
    next_after: rows.length < shownRows ? null : (rows.at(-1)?.row ?? null),
  }
}

/** The rows as they stand in the file, which has been the operator's before: formulas are not escaped. */
export const exportRefusedRows: ConsoleHandler<'exportRefusedRows'> = async (
  { params, query },
  { db, organizationId },
) => {
  const file = await findImport(db, organizationId, params.import_id)
  if (!file) throw notFound()
  const rows = await listRefused(db, organizationId, file.id, query.after, exportedRows)
  const heading = file.heading ?? []
  const lines = rows.map(({ cells }) => heading.map((_, index) => cells[index] ?? ''))
  return {
    file_name: 'rejected.csv',
    csv: stringify(query.after === 0 ? [[...heading], ...lines] : lines),
    next_after: rows.length < exportedRows ? null : (rows.at(-1)?.row ?? null),
  }
}

/** All of it or nothing, as `outdial contact import`. */
export const commitImport: ConsoleHandler<'commitImport'> = async ({ params, body }, context) => {
  const { organizationId, parts } = context
  const found = await requireImport(context.db, organizationId, params.import_id)
  const lasting = lastingContext(context)
  return workOn(
    context,
    found,
    'commit',
    async (tx, tell) => {
      const file = await requireChecked(tx, organizationId, found.id, 'contacts')
      if (!file) throw notFound()
      const counts = { contacts: 0, new: 0, updated: 0 }
      const portions = acceptedPortions(tx, organizationId, file, body.leave_out_refused)
      for await (const { inputs, updated } of portions) {
        if (inputs.length > 0) await upsertRecipients(tx, organizationId, inputs, parts.quotas)
        counts.contacts += inputs.length
        counts.updated += updated
        counts.new += inputs.length - updated
        tell(counts.contacts)
      }
      if (counts.contacts === 0) throw nothingLeft()
      await forget(tx, organizationId, file.id)
      await note(tx, lasting, {
        action: 'contact.import',
        target: { type: 'import', id: file.id },
        after: counts,
      })
      return counts
    },
    (counts) => counts,
  )
}

export const draftImport: ConsoleHandler<'draftImport'> = async ({ params, body }, context) => {
  const { organizationId, parts } = context
  const found = await requireImport(context.db, organizationId, params.import_id)
  const lasting = lastingContext(context)
  const { name, agent_id: agentId, scheduled_start_at: start, calling_window: window } = body
  const times = {
    ...(start !== undefined && { scheduled_start_at: start }),
    ...(window && { calling_window: window }),
  }
  return workOn(
    context,
    found,
    'draft',
    async (tx, tell) => {
      const file = await requireChecked(tx, organizationId, found.id, 'batch')
      if (!file) throw notFound()
      const recipients: PersonInput[] = []
      const portions = acceptedPortions(tx, organizationId, file, body.leave_out_refused)
      for await (const { inputs } of portions) recipients.push(...inputs)
      if (recipients.length === 0) throw nothingLeft()
      const request = { organizationId, agentId, name, recipients, times }
      const rows = await draftBatches(tx, parts.clock, request, 'dashboard', parts.quotas, tell)
      await forget(tx, organizationId, file.id)
      for (const row of rows)
        await note(tx, lasting, {
          action: 'batch.create',
          target: { type: 'batch', id: row.id },
          after: { agent_id: agentId, recipients: row.total_recipients, import_id: file.id },
        })
      return rows
    },
    (rows) => ({ data: rows.map(batchResource) }),
    (rows) => rows.map(({ id }) => id),
  )
}

const nothingLeft = (): ApiError =>
  new ApiError('resource_state_conflict', 'The file has no row that can be taken.')
