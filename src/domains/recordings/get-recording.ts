import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import { downloadableRecording, type DownloadUrls } from './recording-resource.ts'
import { findRecording } from './recording-store.ts'

/** GET /recordings/{recording_id}: with a new URL for each response. */
export const getRecording: ApiHandler<
  'getRecording',
  { readonly downloadUrls: DownloadUrls }
> = async ({ params, query }, { db, organizationId, parts: { downloadUrls } }) => {
  const recording = await findRecording(db, organizationId, params.recording_id)
  if (!recording) throw notFound()
  return downloadableRecording(recording, query.expires_in, downloadUrls)
}
