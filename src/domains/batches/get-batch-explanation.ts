import { notFound } from '../../contract/api-error.ts'
import type { ExplanationReason } from '../../contract/explanations.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { Queryable } from '../../database/database.ts'
import { explainCall } from '../calls/explain-call.ts'
import { firstCallsOfBatch } from '../calls/explain-store.ts'
import type { BatchRow } from './batch-resource.ts'
import { findBatch } from './batch-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** GET /batches/{batch_id}/explanation: of the batches that GET /batches/{batch_id} shows (D19). */
export const getBatchExplanation: ApiHandler<'getBatchExplanation'> = async (
  { params },
  { db, organizationId },
) => {
  const row = await findBatch(db, organizationId, params.batch_id, 'api')
  if (!row) throw notFound()
  const reasons = await explainBatch(db, organizationId, row)
  return { object: 'explanation', status: row.status, reasons: [...reasons] }
}

/** Lanes of one batch that are inspected: one for each combination of its callees' time zones. */
const maxLanes = 10

/** What a batch waits for, the first obstacle first; empty once it has ended. */
export const explainBatch = async (
  db: Queryable,
  organizationId: OrganizationId,
  batch: BatchRow,
): Promise<readonly ExplanationReason[]> => {
  switch (batch.status) {
    case 'draft':
      return [{ code: 'batch_paused', message: 'The batch is a draft: start it.' }]
    case 'scheduled': {
      const until = batch.scheduled_start_at?.toISOString()
      const message = 'Its scheduled start is still to come.'
      return [{ code: 'not_before', message, ...(until !== undefined && { until }) }]
    }
    case 'paused':
      return [{ code: 'batch_paused', message: 'The batch is paused.' }]
    case 'queued':
    case 'in_progress':
      return reasonsOfLanes(db, organizationId, batch.id)
    case 'completed':
    case 'failed':
    case 'cancelled':
      return []
  }
}

/** What the next call of each lane waits for, each reason once. */
const reasonsOfLanes = async (
  db: Queryable,
  organizationId: OrganizationId,
  batchId: string,
): Promise<readonly ExplanationReason[]> => {
  const reasons = new Map<string, ExplanationReason>()
  for (const callId of await firstCallsOfBatch(db, organizationId, batchId, maxLanes)) {
    const explanation = await explainCall(db, organizationId, callId, 'api')
    for (const reason of explanation?.reasons ?? [])
      reasons.set(`${reason.code} ${reason.until ?? ''} ${reason.message}`, reason)
  }
  return [...reasons.values()]
}
