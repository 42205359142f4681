import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import { newestFirst } from '../../database/newest-first.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { derivedId } from '../../runtime/ids.ts'

/** Which call was recorded. */
export interface RecordedCall {
  readonly organizationId: OrganizationId
  readonly callId: string
}

/**
 * Namespace of recording ids: they are UUIDv5 of the source row, so the same row always gives the same id (D12).
 */
const recordingNamespace = '6f3f1d52-2e0b-4c53-9d51-0f6d5c2f8a17'

/** The recording's id, known before it is created. */
export const recordingIdOf = ({ organizationId, callId }: RecordedCall): string =>
  derivedId(recordingNamespace, `${organizationId}/calls/${callId}`)

const insertStatement = sql(
  'recording-store.insertRecording',
  `insert into recordings (organization_id, id, call_id, is_api_call, contact_id, recorded_at, status,
                           frames_expected, frames_written, batch_id, automation_run_id)
   select $1, $2, $3, $4,
          (select id from contacts where organization_id = $1 and id = $5),
          $6, 'encoding', $7, $8, c.batch_id, c.automation_run_id
     from calls c
    where c.organization_id = $1
      and c.id = $3
   on conflict (organization_id, id) do nothing`,
)

/** A call whose audio becomes a recording. */
interface NewRecording extends RecordedCall {
  readonly contactId: string
  /** `api`, or the call's other origin: then API clients do not see its id. */
  readonly origin: string
  /** When it was answered. */
  readonly recordedAt: Date
  /** The recorder's own counts; omitted if it was killed. */
  readonly frames?: RecordedFrames | undefined
}

/** 20 ms frames from the answer to the hang-up, and those that contain audio: how complete a recording is. */
export interface RecordedFrames {
  readonly expected: number
  readonly written: number
}

/** Runs in the transaction that ends the call. Hidden until `completeRecording`. Repeatable. */
export const insertRecording = async (tx: Transaction, recording: NewRecording): Promise<void> => {
  await tx.run(insertStatement, [
    recording.organizationId,
    recordingIdOf(recording),
    recording.callId,
    recording.origin === 'api',
    recording.contactId,
    recording.recordedAt,
    recording.frames?.expected ?? null,
    recording.frames?.written ?? null,
  ])
}

const completeStatement = sql(
  'recording-store.completeRecording',
  `update recordings
      set status = 'ready',
          storage_key = $3,
          duration_seconds = $4,
          size_bytes = $5,
          peaks_key = $6,
          frames_written = coalesce(frames_written, $7),
          updated_at = now()
    where organization_id = $1
      and id = $2
      and status <> 'deleted'`,
)

interface StoredAudio {
  readonly storageKey: string
  readonly durationSeconds: number | null
  readonly sizeBytes: number
  readonly peaksKey: string
  /** 20 ms frames in the file: the only known count if the recorder was killed. */
  readonly frames: number
}

/** The MP3 is stored: from now on the recording is listed. False if there is none, or it was deleted meanwhile. */
export const completeRecording = async (
  db: Queryable,
  call: RecordedCall,
  audio: StoredAudio,
): Promise<boolean> => {
  const values = [
    call.organizationId,
    recordingIdOf(call),
    audio.storageKey,
    audio.durationSeconds,
    audio.sizeBytes,
    audio.peaksKey,
    audio.frames,
  ]
  return (await db.run(completeStatement, values)) > 0
}

const failStatement = sql(
  'recording-store.failRecording',
  `update recordings
      set status = 'failed', updated_at = now()
    where organization_id = $1
      and id = $2
      and status = 'encoding'`,
)

/** The audio is lost. False if it is not being encoded. */
export const failRecording = async (db: Queryable, call: RecordedCall): Promise<boolean> =>
  (await db.run(failStatement, [call.organizationId, recordingIdOf(call)])) > 0

const statusStatement = sql(
  'recording-store.recordingStatus',
  `select status
     from recordings
    where organization_id = $1
      and id = $2`,
)

export type RecordingStatus = 'encoding' | 'ready' | 'failed' | 'deleted'

/** Undefined if the call has no recording. */
export const recordingStatus = async (
  db: Queryable,
  call: RecordedCall,
): Promise<RecordingStatus | undefined> => {
  const values = [call.organizationId, recordingIdOf(call)]
  return (await db.row<{ status: RecordingStatus }>(statusStatement, values))?.status
}

/** A recording for clients. */
export interface RecordingRow {
  readonly id: string
  /** Null: the call was not made by the API, whose clients do not know its id (D3). */
  readonly call_id: string | null
  /** The same for operators. */
  readonly any_call_id: string
  readonly contact_id: string | null
  readonly recorded_at: Date
  readonly duration_seconds: number | null
}

const columns = `case when is_api_call then call_id end as call_id, call_id as any_call_id, contact_id, recorded_at, duration_seconds`

const findStatement = sql(
  'recording-store.findRecording',
  `select id, ${columns}
     from recordings
    where organization_id = $1
      and id = $2
      and status = 'ready'`,
)

export const findRecording = (
  db: Queryable,
  organizationId: OrganizationId,
  recordingId: string,
): Promise<RecordingRow | undefined> =>
  db.row<RecordingRow>(findStatement, [organizationId, recordingId])

/** Ready recordings, newest first by their recording time, from calls of any origin. */
export const listRecordingRows = newestFirst<
  RecordingRow,
  'contact_id' | 'call_id' | 'batch_id' | 'automation_run_id' | 'created_after' | 'created_before'
>({
  name: 'recording-store.listRecordingRows',
  columns,
  table: 'recordings',
  sortColumn: 'recorded_at',
  filters: {
    contact_id: 'contact_id = ?::uuid',
    // Clients do not know ids of calls and batches from other origins (D3); they do know runs of every origin (D6).
    call_id: 'is_api_call and call_id = ?::uuid',
    batch_id: 'is_api_call and batch_id = ?::uuid',
    automation_run_id: 'automation_run_id = ?::uuid',
    created_after: 'recorded_at >= ?::timestamptz',
    created_before: 'recorded_at < ?::timestamptz',
  },
  // Worded as the indexes of migrations/0150-list-indexes.sql.
  ways: [{ filter: 'contact_id', where: "status || '' = 'ready'" }, { where: "status = 'ready'" }],
})

const audioStatement = sql(
  'recording-store.findRecordingAudio',
  `select storage_key, size_bytes, recorded_at
     from recordings
    where id = $1
      and status = 'ready'`,
)

export interface RecordingAudio {
  readonly storageKey: string
  readonly sizeBytes: number
  readonly recordedAt: Date
}

/** The key of the MP3. For the media origin, where a signed URL is the permission and names no organization. */
export const findRecordingAudio = async (
  db: Queryable,
  recordingId: string,
): Promise<RecordingAudio | undefined> => {
  const row = await db.row<{ storage_key: string; size_bytes: number; recorded_at: Date }>(
    audioStatement,
    [recordingId],
  )
  return (
    row && { storageKey: row.storage_key, sizeBytes: row.size_bytes, recordedAt: row.recorded_at }
  )
}

const peaksStatement = sql(
  'recording-store.findPeaksKey',
  `select peaks_key
     from recordings
    where organization_id = $1
      and id = $2
      and status = 'ready'`,
)

/** The key of a recording's waveform; undefined if there is none. */
export const findPeaksKey = async (
  db: Queryable,
  organizationId: OrganizationId,
  recordingId: string,
): Promise<string | undefined> =>
  (await db.row<{ peaks_key: string | null }>(peaksStatement, [organizationId, recordingId]))
    ?.peaks_key ?? undefined
