import type { ApiHandler } from '../api-handler.ts'
import type { Transaction } from '../../database/database.ts'
import { setSourcePaused } from '../calls/lane-store.ts'
import { cancelUndialled } from '../calls/lifecycle/cancel-undialled-calls.ts'
import type { EndCall } from '../calls/lifecycle/end-call.ts'
import { batchResource, type BatchRow } from './batch-resource.ts'
import { batchStatesBefore, isBatchOver } from './batch-states.ts'
import { findBatch, moveBatch, type BatchOrigin } from './batch-store.ts'
import { lockBatch } from './lock-batch.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** POST /batches/{batch_id}/cancel. */
export const cancelBatch: ApiHandler<'cancelBatch', { readonly endCall: EndCall }> = async (
  { params },
  { db, organizationId, parts: { endCall } },
) => batchResource(await cancelBatchById(db, endCall, organizationId, params.batch_id, 'api'))

/**
 * Pending and queued recipients end at once; live calls finish and keep settling the counters (D5). An ended batch
 * stays unchanged. Throws `resource_not_found`.
 */
export const cancelBatchById = async (
  tx: Transaction,
  endCall: EndCall,
  organizationId: OrganizationId,
  batchId: string,
  origin: BatchOrigin | undefined,
): Promise<BatchRow> => {
  const head = await lockBatch(tx, organizationId, batchId, origin)
  if (!isBatchOver(head.status)) await cancelOpenBatch(tx, endCall, organizationId, batchId)
  const row = await findBatch(tx, organizationId, batchId, origin)
  if (!row) throw new Error('A cancelled batch is gone.')
  return row
}

const cancelOpenBatch = async (
  tx: Transaction,
  endCall: EndCall,
  organizationId: OrganizationId,
  batchId: string,
): Promise<void> => {
  // If the last recipient ends meanwhile, there is nothing to cancel and the batch stays as it ended.
  await Promise.all([
    setSourcePaused(tx, organizationId, batchId, true),
    // Its subscribers settle the batch, after it has moved: they begin when the statement is answered, and all are sent.
    endCall(tx, cancelUndialled(organizationId, batchId)),
    moveBatch(tx, organizationId, batchId, 'cancelled', batchStatesBefore('cancelled')),
  ])
}
