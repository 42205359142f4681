import { formatDateTime } from '../../contract/date-time.ts'
import type { Recording } from '../../contract/recordings.ts'
import type { Clock } from '../../runtime/time.ts'
import type { RecordingRow } from './recording-store.ts'

/** Creates a URL of at most 2,048 characters that serves the MP3 until the instant, to the millisecond (D12). */
type SignDownloadUrl = (recordingId: string, expiresAt: Date) => string

export interface DownloadUrls {
  readonly signDownloadUrl: SignDownloadUrl
  readonly clock: Clock
}

/** The recording for clients, without a URL. */
export const recordingResource = (row: RecordingRow): Recording => ({
  object: 'recording',
  id: row.id,
  call_id: row.call_id,
  contact_id: row.contact_id,
  recorded_at: formatDateTime(row.recorded_at),
  duration_seconds: row.duration_seconds,
  media_type: 'audio/mpeg',
})

/** The recording with a new URL that lives `seconds` from now. */
export const downloadableRecording = (
  row: RecordingRow,
  seconds: number,
  { signDownloadUrl, clock }: DownloadUrls,
): Recording => {
  const expiresAt = new Date(clock.now().getTime() + seconds * 1000)
  return {
    ...recordingResource(row),
    download_url: signDownloadUrl(row.id, expiresAt),
    download_url_expires_at: formatDateTime(expiresAt),
  }
}
