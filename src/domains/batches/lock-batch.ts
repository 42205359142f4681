import { notFound } from '../../contract/api-error.ts'
import type { Transaction } from '../../database/database.ts'
import { lockDispatch } from '../calls/lane-store.ts'
import { findBatchHead, type BatchHead, type BatchOrigin } from './batch-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/**
 * Begins a transition of a batch, in one round trip: no other transition of a batch of the organization overlaps
 * with it. Throws `resource_not_found`.
 */
export const lockBatch = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
  origin: BatchOrigin | undefined,
): Promise<BatchHead> => {
  const [, head] = await Promise.all([
    lockDispatch(tx, organizationId),
    findBatchHead(tx, organizationId, batchId, origin),
  ])
  if (!head) throw notFound()
  return head
}
