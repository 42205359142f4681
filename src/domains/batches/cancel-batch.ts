import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../../contract/operations.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { lockDispatch, setSourcePaused } from '../calls/lane-store.ts'
import { openResultsOfUndialled } from '../results/open-results.ts'
import { batchResource } from './batch-resource.ts'
import { batchStatesBefore, isBatchOver } from './batch-states.ts'
import { findBatch, findBatchHead, moveBatch } from './batch-store.ts'
import { cancelRecipients } from './recipient-store.ts'
import { settleBatch } from './settle-batch.ts'

/**
 * POST /batches/{batch_id}/cancel: what is pending or queued ends at once, live calls finish and keep settling the
 * counters (D5). An ended batch is answered unchanged.
 */
export const cancelBatch: ApiHandler<'cancelBatch', Queryable, Transaction> = async (
  { params },
  { db, organizationId },
) => {
  const batchId = params.batch_id
  const [, head] = await Promise.all([
    lockDispatch(db, organizationId),
    findBatchHead(db, organizationId, batchId, 'api'),
  ])
  if (!head) throw notFound()
  if (!isBatchOver(head.status)) await cancelOpenBatch(db, organizationId, batchId)
  const row = await findBatch(db, organizationId, batchId, 'api')
  if (!row) throw notFound()
  return batchResource(row)
}

const cancelOpenBatch = async (
  tx: Transaction,
  organizationId: string,
  batchId: string,
): Promise<void> => {
  // If the last recipient ends meanwhile, there is nothing to cancel and the batch stays as it ended.
  const [, ended] = await Promise.all([
    setSourcePaused(tx, organizationId, batchId, true),
    cancelRecipients(tx, organizationId, batchId),
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
  const ended = await cancelRecipients(tx, organizationId, batchId)
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
