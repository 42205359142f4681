import type { ApiHandler } from '../api-handler.ts'
import type { Transaction } from '../../database/database.ts'
import { setSourcePaused } from '../calls/lane-store.ts'
import { openResultsOfUndialled } from '../results/open-results.ts'
import { batchResource, type BatchRow } from './batch-resource.ts'
import { batchStatesBefore, isBatchOver } from './batch-states.ts'
import { findBatch, moveBatch, type BatchOrigin } from './batch-store.ts'
import { lockBatch } from './lock-batch.ts'
import { cancelCallsOfBatch } from '../calls/lifecycle/cancel-calls-of-batch.ts'
import { settleBatch } from './settle-batch.ts'

/** POST /batches/{batch_id}/cancel. */
export const cancelBatch: ApiHandler<'cancelBatch'> = async ({ params }, { db, organizationId }) =>
  batchResource(await cancelBatchById(db, organizationId, params.batch_id, 'api'))

/**
 * What is pending or queued ends at once, live calls finish and keep settling the counters (D5). An ended batch stays as
 * it is. Throws `resource_not_found`.
 */
export const cancelBatchById = async (
  tx: Transaction,
  organizationId: string,
  batchId: string,
  origin: BatchOrigin | undefined,
): Promise<BatchRow> => {
  const head = await lockBatch(tx, organizationId, batchId, origin)
  if (!isBatchOver(head.status)) await cancelOpenBatch(tx, organizationId, batchId)
  const row = await findBatch(tx, organizationId, batchId, origin)
  if (!row) throw new Error('A cancelled batch is gone.')
  return row
}

const cancelOpenBatch = async (
  tx: Transaction,
  organizationId: string,
  batchId: string,
): Promise<void> => {
  // If the last recipient ends meanwhile, there is nothing to cancel and the batch stays as it ended.
  const [, ended] = await Promise.all([
    setSourcePaused(tx, organizationId, batchId, true),
    cancelCallsOfBatch(tx, organizationId, batchId),
    moveBatch(tx, organizationId, batchId, 'cancelled', batchStatesBefore('cancelled')),
  ])
  await closeCancelled(tx, organizationId, batchId, ended)
}

/**
 * A call that was live when its batch was cancelled may come back to the queue from a congested carrier: it is cancelled
 * there, for its lane never opens again. The caller has locked the organization.
 */
export const cancelLeftovers = async (
  tx: Transaction,
  organizationId: string,
  batchId: string,
): Promise<void> => {
  const ended = await cancelCallsOfBatch(tx, organizationId, batchId)
  await closeCancelled(tx, organizationId, batchId, ended)
}

const closeCancelled = async (
  tx: Transaction,
  organizationId: string,
  batchId: string,
  callIds: readonly string[],
): Promise<void> => {
  await Promise.all([
    settleBatch(tx, organizationId, batchId),
    openResultsOfUndialled(tx, organizationId, callIds, 'call_cancelled'),
  ])
}
