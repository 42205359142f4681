import type { ApiHandler } from '../api-handler.ts'
import { defaultDownloadSeconds } from '../../contract/recordings.ts'
import { isUuid } from '../../runtime/ids.ts'
import {
  downloadableRecording,
  recordingResource,
  type DownloadUrls,
} from './recording-resource.ts'
import { listRecordingRows } from './recording-store.ts'

/** GET /recordings: all of the organization's, newest first; with URLs only on request. */
export const listRecordings: ApiHandler<
  'listRecordings',
  { readonly downloadUrls: DownloadUrls }
> = async ({ query }, { db, organizationId, parts: { downloadUrls } }) => {
  const { limit, cursor, include, expires_in: seconds = defaultDownloadSeconds, ...filters } = query
  // An unknown id matches nothing.
  const ids = [filters.contact_id, filters.batch_id, filters.automation_run_id]
  if (!ids.every((id) => id === undefined || isUuid(id))) return { data: [], next: null }
  const { rows, next } = await listRecordingRows(db, { organizationId, limit, cursor, filters })
  const data = rows.map((row) =>
    include === 'download_url'
      ? downloadableRecording(row, seconds, downloadUrls)
      : recordingResource(row),
  )
  return { data, next }
}
