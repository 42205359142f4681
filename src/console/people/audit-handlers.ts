import { stringify } from 'csv-stringify/sync'
import { formatDateTime } from '../../contract/date-time.ts'
import { listAuditEntryRows, type AuditEntryRow } from '../../domains/audit/audit-store.ts'
import type { ConsoleHandler } from '../console-handler.ts'
import { isUuid } from '../../runtime/ids.ts'

/** Entries that one export holds at most; a filter by time gives the older ones. */
const maxExported = 10_000

const entryOf = (row: AuditEntryRow) => ({
  id: row.id,
  at: formatDateTime(row.at),
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
  address: row.address,
  action: row.action,
  target: { type: row.target_type, id: row.target_id },
  before: row.before,
  after: row.after,
})

export const listAuditEntries: ConsoleHandler<'listAuditEntries'> = async (
  { query },
  { db, organizationId },
) => {
  const { limit, cursor, ...filters } = query
  if (!isPossible(filters.actor_id)) return { data: [], next: null }
  const page = await listAuditEntryRows(db, { organizationId, limit, cursor, filters })
  return { data: page.rows.map(entryOf), next: page.next }
}

const isPossible = (id: string | undefined): boolean => id === undefined || isUuid(id)

export const exportAuditEntries: ConsoleHandler<'exportAuditEntries'> = async (
  { query },
  { db, organizationId },
) => {
  const request = { organizationId, limit: maxExported, filters: query }
  const { rows, next } = isPossible(query.actor_id)
    ? await listAuditEntryRows(db, request)
    : { rows: [], next: null }
  const columns = [
    'at',
    'actor_kind',
    'actor_id',
    'actor_name',
    'address',
    'action',
    'target_type',
    'target_id',
    'before',
    'after',
  ] as const
  const lines = rows.map((row) => columns.map((name) => cellOf(row[name])))
  return {
    file_name: 'audit.csv',
    csv: stringify([[...columns], ...lines], { escape_formulas: true }),
    truncated: next !== null,
  }
}

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return formatDateTime(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
