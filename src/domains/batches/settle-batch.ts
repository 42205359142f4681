import { sql, type Transaction } from '../../database/database.ts'
import { openStates, statusIn } from '../calls/lifecycle/call-states.ts'
import type { CallEndSubscriber } from '../calls/lifecycle/end-call.ts'
import { holdBatchStatus } from './batch-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const settleStatement = sql(
  'settle-batch.settle',
  `with ended as materialized (
     select not exists (select
                          from calls
                         where organization_id = $1
                           and batch_id = $2
                           and ${statusIn(openStates)}) as is_over
   ),
   counted as materialized (
     select count(*) filter (where c.status = 'completed') as completed,
            count(*) filter (where c.status = 'failed') as failed,
            count(*) filter (where c.status = 'cancelled') as cancelled,
            count(*) filter (where c.status = 'completed' and c.answer_status = 'answered') as answered,
            count(*) filter (where c.status = 'completed' and c.answer_status = 'no_answer') as no_answer,
            count(*) filter (where c.status = 'completed' and c.answer_status = 'busy') as busy
       from ended e
       join calls c on c.organization_id = $1 and c.batch_id = $2
      where e.is_over
   )
   update batches b
      set status               = case when b.status = 'cancelled' then 'cancelled'
                                      when n.completed > 0 then 'completed' else 'failed' end,
          completed_at         = case when b.status <> 'cancelled' then now() end,
          settled_at           = now(),
          completed_recipients = n.completed,
          failed_recipients    = n.failed,
          cancelled_recipients = n.cancelled,
          answered_recipients  = n.answered,
          no_answer_recipients = n.no_answer,
          busy_recipients      = n.busy,
          updated_at           = now()
     from ended e, counted n
    where b.organization_id = $1
      and b.id = $2
      and b.status in ('queued', 'in_progress', 'paused', 'cancelled')
      and b.settled_at is null
      and e.is_over`,
)

/**
 * Ends the batch if no recipient is left, and freezes its counters. The lock comes first and the calls are read in
 * a later statement: of two calls that end at once, the second waits here for the first to commit and then sees it,
 * so exactly one of them settles the batch (D5).
 */
export const settleBatch = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
): Promise<void> => {
  await Promise.all([
    holdBatchStatus(tx, organizationId, batchId),
    tx.run(settleStatement, [organizationId, batchId]),
  ])
}

/** In the transaction that ends calls, after everything else: the batch's lock is held for the shortest time. */
export const settleBatchesOfCalls: CallEndSubscriber = async (tx, calls) => {
  const batches = new Map(
    calls.flatMap(({ organizationId, batchId }) =>
      batchId === null ? [] : [[batchId, organizationId]],
    ),
  )
  for (const [batchId, organizationId] of batches) await settleBatch(tx, organizationId, batchId)
}
