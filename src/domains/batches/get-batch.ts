import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import { batchResource } from './batch-resource.ts'
import { findBatch } from './batch-store.ts'

/** GET /batches/{batch_id}: only batches made through the API (D14). */
export const getBatch: ApiHandler<'getBatch'> = async ({ params }, { db, organizationId }) => {
  const row = await findBatch(db, organizationId, params.batch_id, 'api')
  if (!row) throw notFound()
  return batchResource(row)
}
