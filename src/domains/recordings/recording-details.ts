import { formatDateTime } from '../../contract/date-time.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { isUnrecorded } from './unrecorded-calls.ts'
import { recordingIdOf, type RecordedCall, type RecordingStatus } from './recording-store.ts'

/** A recording as commands print it: also while it is not ready, and how complete it is. */
export interface RecordingDetails {
  readonly id: string
  readonly status: RecordingStatus
  readonly recorded_at: string
  readonly duration_seconds?: number
  readonly size_bytes?: number
  /** 20 ms frames from the answer to the hang-up; omitted if the recorder was killed. */
  readonly frames_expected?: number
  /** Frames that contain audio. */
  readonly frames_written?: number
}

/** Why a call that was answered has no recording (D17). */
export interface MissingRecording {
  readonly status: 'unavailable'
  readonly reason: 'not_enabled'
}

interface DetailsRow {
  readonly status: RecordingStatus
  readonly recorded_at: Date
  readonly duration_seconds: number | null
  readonly size_bytes: number | null
  readonly frames_expected: number | null
  readonly frames_written: number | null
}

const findStatement = sql(
  'recording-details.findRecordingDetails',
  `select status, recorded_at, duration_seconds, size_bytes, frames_expected, frames_written
     from recordings
    where organization_id = $1
      and id = $2`,
)

/** Undefined if the call has no recording, and none was refused. */
export const findRecordingDetails = async (
  db: Queryable,
  call: RecordedCall,
): Promise<RecordingDetails | MissingRecording | undefined> => {
  const id = recordingIdOf(call)
  const row = await db.row<DetailsRow>(findStatement, [call.organizationId, id])
  if (!row)
    return (await isUnrecorded(db, call))
      ? { status: 'unavailable', reason: 'not_enabled' }
      : undefined
  const { recorded_at: recordedAt, status, ...figures } = row
  const known = Object.entries(figures).filter(([, value]) => value !== null)
  return { id, status, recorded_at: formatDateTime(recordedAt), ...Object.fromEntries(known) }
}
