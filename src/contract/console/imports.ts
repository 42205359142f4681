import { z } from 'zod'
import { batch, callingWindow } from '../batches.ts'
import { count, dateTime, dateTimeInput, integerParameter, opaqueId, text } from '../fields.ts'

/** Bounds of one file. */
export const maxImportBytes = 10 * 1000 * 1000
export const maxImportRows = 100_000

/** Characters of one part: with every character escaped a body still holds it. */
const maxPartCharacters = 160_000
/** Rows that are mended at once, and refused rows that are shown at once. */
const maxFixes = 100
const maxCellCharacters = 1_000

/** The fields of a contact, as a file may have them. */
export const contactColumns = [
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

/** The fields that a column of an uploaded file may be: the parts of a name are put together. */
const importColumns = [...contactColumns, 'first_name', 'last_name'] as const

export type ImportColumn = (typeof importColumns)[number]

const column = z.enum(importColumns)

export const importPath = z.strictObject({ import_id: opaqueId })
export const newImport = z.strictObject({ file_name: text(1, 255) })
export const importPart = z.strictObject({
  position: z.int().min(0).max(10_000),
  text: z.string().max(maxPartCharacters),
  is_last: z.boolean(),
})

const rowFields = z.partialRecord(column, z.string().max(maxCellCharacters))

export const importState = z.strictObject({
  id: opaqueId,
  file_name: z.string(),
  status: z.enum(['uploading', 'read', 'checked']),
  parts: count,
  size_bytes: count,
  row_count: count,
  heading: z.array(z.string()),
  /** The fields that the heading names, or those of the last check. */
  mapping: z.array(column.nullable()),
  created_at: dateTime,
})

export const importDetail = importState.extend({
  /** The first rows, cell by cell. */
  sample: z.array(z.array(z.string())),
})

export const importCheck = z.strictObject({
  mapping: z.array(column.nullable()).max(200),
  /** ISO 3166: numbers without + are read as those of this country. */
  country: text(2, 2).optional(),
  purpose: z.enum(['contacts', 'batch']),
  fixes: z
    .array(z.strictObject({ row: z.int().min(1), cells: rowFields }))
    .max(maxFixes)
    .default([]),
})

export const importCounts = z.strictObject({
  rows: count,
  ready: count,
  updated: count,
  duplicate: count,
  invalid: count,
})

export const refusedFilters = z.strictObject({
  /** Rows below this one. */
  after: integerParameter(0, 10_000_000).default(0),
})

export const refusedRows = z.strictObject({
  data: z.array(
    z.strictObject({
      row: count,
      verdict: z.enum(['duplicate', 'invalid']),
      cells: z.partialRecord(column, z.string()),
      problems: z.array(
        z.strictObject({ column: z.string(), code: z.string(), message: z.string() }),
      ),
    }),
  ),
  next_after: count.nullable(),
})

export const refusedExport = z.strictObject({
  file_name: z.string(),
  /** RFC 4180; the heading only on the first page. */
  csv: z.string(),
  next_after: count.nullable(),
})

const leavesOut = { leave_out_refused: z.boolean().default(false) }

export const importCommit = z.strictObject(leavesOut)

export const importReceipt = z.strictObject({ contacts: count, new: count, updated: count })

/** Work on a large file goes on after the request. */
const workKinds = ['check', 'commit', 'draft'] as const
export type ImportWorkKind = (typeof workKinds)[number]

/** As work is kept when it has ended, by its kind. */
export const importWorkResult = {
  check: importCounts,
  commit: importReceipt,
  draft: z.array(opaqueId),
  failure: z.strictObject({ code: z.string(), message: z.string() }),
} as const

const workMembers = { kind: z.enum(workKinds), done: count, total: count } as const

/** The answer where the work is not done within seconds: it is asked for at `/work`. */
export const importRunning = z.strictObject({ ...workMembers, status: z.literal('running') })

/** How far the work is, and what came of it. */
export const importWork = z.strictObject({
  ...workMembers,
  /** Absent where nothing was begun. */
  kind: z.enum(workKinds).optional(),
  status: z.enum(['none', 'running', 'done', 'failed']),
  counts: importCounts.optional(),
  receipt: importReceipt.optional(),
  batch_ids: importWorkResult.draft.optional(),
  failure: importWorkResult.failure.optional(),
})

/** Drafts of 1,000 recipients each. */
export const importBatches = z.strictObject({
  name: text(1, 200),
  agent_id: opaqueId,
  scheduled_start_at: dateTimeInput.optional(),
  calling_window: callingWindow.optional(),
  ...leavesOut,
})

export const madeBatches = z.strictObject({ data: z.array(batch) })
