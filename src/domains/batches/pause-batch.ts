import { ApiError, notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../../contract/operations.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { lockDispatch, setSourcePaused } from '../calls/lane-store.ts'
import { batchResource } from './batch-resource.ts'
import { batchStatesBefore } from './batch-states.ts'
import { findBatch, findBatchHead, moveBatch } from './batch-store.ts'

/**
 * POST /batches/{batch_id}/pause: its lanes close, no call is touched, live ones go on (D5). Once this is answered no
 * other recipient is dialled. A paused or ended batch is answered unchanged.
 */
export const pauseBatch: ApiHandler<'pauseBatch', Queryable, Transaction> = async (
  { params },
  { db, organizationId },
) => {
  const batchId = params.batch_id
  const [, head] = await Promise.all([
    lockDispatch(db, organizationId),
    findBatchHead(db, organizationId, batchId, 'api'),
  ])
  if (!head) throw notFound()
  if (head.status === 'draft') {
    throw new ApiError('resource_state_conflict', 'A draft batch has nothing to pause.')
  }
  const pausable = batchStatesBefore('paused')
  if (pausable.includes(head.status)) {
    // The batch may end meanwhile: then it stays as it ended, and nothing is left in its lanes.
    await Promise.all([
      setSourcePaused(db, organizationId, batchId, true),
      moveBatch(db, organizationId, batchId, 'paused', pausable),
    ])
  }
  const row = await findBatch(db, organizationId, batchId, 'api')
  if (!row) throw notFound()
  return batchResource(row)
}
