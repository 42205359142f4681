import { newestFirst } from '../../database/newest-first.ts'

export interface AuditEntryRow {
  readonly id: string
  readonly at: Date
  readonly actor_kind: 'account' | 'key' | 'command_line'
  readonly actor_id: string | null
  readonly actor_name: string
  readonly address: string | null
  readonly action: string
  readonly target_type: string
  readonly target_id: string | null
  readonly before: unknown
  readonly after: unknown
}

/** The audit log of an organization, newest first. */
export const listAuditEntryRows = newestFirst<
  AuditEntryRow,
  'actor_id' | 'action' | 'target_type' | 'target_id' | 'created_after' | 'created_before'
>({
  name: 'audit-store.listAuditEntryRows',
  columns: `at, actor_kind, actor_id, actor_name, address, action, target_type, target_id, before, after`,
  table: 'audit_entries',
  sortColumn: 'at',
  filters: {
    actor_id: 'actor_id = ?',
    action: 'action = ?',
    target_type: 'target_type = ?',
    target_id: 'target_id = ?',
    created_after: 'at >= ?',
    created_before: 'at < ?',
  },
  ways: [{}],
})
