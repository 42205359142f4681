import { ApiError } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { Transaction } from '../../database/database.ts'
import { setSourcePaused } from '../calls/lane-store.ts'
import { batchResource, type BatchRow } from './batch-resource.ts'
import { batchStatesBefore } from './batch-states.ts'
import { findBatch, moveBatch, type BatchOrigin } from './batch-store.ts'
import { lockBatch } from './lock-batch.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** POST /batches/{batch_id}/pause. */
export const pauseBatch: ApiHandler<'pauseBatch'> = async ({ params }, { db, organizationId }) =>
  batchResource(await pauseBatchById(db, organizationId, params.batch_id, 'api'))

/**
 * Its lanes close, calls stay unchanged, live ones go on (D5). After the commit no further recipient is dialled. A
 * paused or ended batch stays unchanged. Throws `resource_not_found`, and `resource_state_conflict` for a draft.
 */
export const pauseBatchById = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
  origin: BatchOrigin | undefined,
): Promise<BatchRow> => {
  const head = await lockBatch(tx, organizationId, batchId, origin)
  if (head.status === 'draft') {
    throw new ApiError('resource_state_conflict', 'A draft batch has nothing to pause.')
  }
  const pausable = batchStatesBefore('paused')
  if (pausable.includes(head.status)) {
    // The batch may end meanwhile: then it stays as it ended, with empty lanes.
    await Promise.all([
      setSourcePaused(tx, organizationId, batchId, true),
      moveBatch(tx, organizationId, batchId, 'paused', pausable),
    ])
  }
  const row = await findBatch(tx, organizationId, batchId, origin)
  if (!row) throw new Error('A paused batch is gone.')
  return row
}
