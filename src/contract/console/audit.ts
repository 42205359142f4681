import { z } from 'zod'
import { dateTime, opaqueId, text } from '../fields.ts'
import { createdFilters, listOf, listPaging } from '../paging.ts'
import { blame, isOpenWindow } from '../rules.ts'

const auditEntry = z.strictObject({
  id: opaqueId,
  at: dateTime,
  actor: z.strictObject({
    kind: z.enum(['account', 'key', 'command_line']),
    id: opaqueId.nullable(),
    name: z.string(),
  }),
  address: z.string().nullable(),
  action: z.string(),
  target: z.strictObject({ type: z.string(), id: z.string().nullable() }),
  before: z.unknown(),
  after: z.unknown(),
})

const filters = {
  actor_id: opaqueId.optional(),
  action: text(1, 100).optional(),
  target_type: text(1, 100).optional(),
  target_id: text(1, 255).optional(),
  ...createdFilters,
}

const window = blame('created_before', 'invalid_range', 'must be later than created_after')

export const auditFilters = z
  .strictObject({ ...listPaging, ...filters })
  .refine(isOpenWindow, window)
export const auditExportFilters = z.strictObject(filters).refine(isOpenWindow, window)
export const auditList = listOf(auditEntry)

/** The newest entries as CSV (RFC 4180). */
export const auditExport = z.strictObject({
  file_name: z.string(),
  csv: z.string(),
  /** Whether older entries were left out. */
  truncated: z.boolean(),
})
