import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../../contract/operations.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { downloadableRecording, type DownloadUrls } from './recording-resource.ts'
import { findRecording } from './recording-store.ts'

/** GET /recordings/{recording_id}: with a URL minted for this answer. */
export const createGetRecording =
  (urls: DownloadUrls): ApiHandler<'getRecording', Queryable, Transaction> =>
  async ({ params, query }, { db, organizationId }) => {
    const recording = await findRecording(db, organizationId, params.recording_id)
    if (!recording) throw notFound()
    return downloadableRecording(recording, query.expires_in, urls)
  }
