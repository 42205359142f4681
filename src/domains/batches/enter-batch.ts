import type { Transaction } from '../../database/database.ts'
import { holdBatchStatus, moveBatch } from './batch-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/**
 * A recipient is handed to dispatch, in the transaction that makes its call `dialing`; the first one moves the
 * batch to `in_progress` (D5). False: the batch no longer dials, and the transaction must not commit. A pause waits
 * for recipients past this point, so that after its response no other call leaves.
 */
export const enterBatch = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
): Promise<boolean> => {
  const [status] = await Promise.all([
    holdBatchStatus(tx, organizationId, batchId),
    moveBatch(tx, organizationId, batchId, 'in_progress', ['queued']),
  ])
  return status === 'queued' || status === 'in_progress'
}
