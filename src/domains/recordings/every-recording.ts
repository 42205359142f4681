import { newestFirst } from '../../database/newest-first.ts'

/** A recording with what the API does not show: calls of other origins, and the size. */
interface OwnRecordingRow {
  readonly id: string
  readonly call_id: string | null
  readonly contact_id: string | null
  readonly recorded_at: Date
  readonly duration_seconds: number | null
  readonly size_bytes: number | null
}

/** Ready recordings of calls of any origin, newest first by their recording time. */
export const listEveryRecording = newestFirst<
  OwnRecordingRow,
  'contact_id' | 'created_after' | 'created_before'
>({
  name: 'every-recording.listEveryRecording',
  columns: 'call_id, contact_id, recorded_at, duration_seconds, size_bytes',
  table: 'recordings',
  sortColumn: 'recorded_at',
  filters: {
    contact_id: 'contact_id = ?::uuid',
    created_after: 'recorded_at >= ?::timestamptz',
    created_before: 'recorded_at < ?::timestamptz',
  },
  // Worded as the indexes of migrations/0150-list-indexes.sql.
  ways: [{ filter: 'contact_id', where: "status || '' = 'ready'" }, { where: "status = 'ready'" }],
})
