import { ApiError } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { BatchStatus } from '../../contract/states.ts'
import type { Transaction } from '../../database/database.ts'
import { wakeSource } from '../calls/lane-store.ts'
import { callsChannel } from '../calls/queue-call.ts'
import { batchResource, type BatchRow } from './batch-resource.ts'
import { startableStates } from './batch-states.ts'
import { findBatch, moveBatch, type BatchOrigin } from './batch-store.ts'
import { lockBatch } from './lock-batch.ts'
import { queuePendingCalls } from '../calls/lifecycle/queue-pending-calls.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** POST /batches/{batch_id}/start: also the resume (D5). */
export const startBatch: ApiHandler<'startBatch'> = async ({ params }, { db, organizationId }) =>
  batchResource(await startBatchById(db, organizationId, params.batch_id, 'api'))

/** Throws `resource_not_found`, and `resource_state_conflict` from any state but draft and paused. */
export const startBatchById = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
  origin: BatchOrigin | undefined,
): Promise<BatchRow> => {
  const head = await lockBatch(tx, organizationId, batchId, origin)
  const [hasMoved, row] = await Promise.all([
    head.is_ahead
      ? moveBatch(tx, organizationId, batchId, 'scheduled', startableStates)
      : releaseBatch(tx, organizationId, batchId, startableStates),
    findBatch(tx, organizationId, batchId, undefined),
  ])
  if (!hasMoved) throw cannotStart(head.status)
  if (!row) throw new Error('A started batch is gone.')
  return row
}

/**
 * To `queued`: its recipients become calls, its lanes open. The caller has locked the organization, and rolls back
 * on false: the batch was in none of these states.
 */
export const releaseBatch = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
  from: readonly BatchStatus[],
): Promise<boolean> => {
  const [, , hasMoved] = await Promise.all([
    wakeSource(tx, organizationId, batchId),
    queuePendingCalls(tx, organizationId, batchId),
    moveBatch(tx, organizationId, batchId, 'queued', from),
  ])
  tx.hintAfterCommit(callsChannel)
  return hasMoved
}

const cannotStart = (status: BatchStatus): ApiError =>
  new ApiError(
    'resource_state_conflict',
    `Only a draft or paused batch can be started; this one is ${status}.`,
  )
