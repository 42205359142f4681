import { sql, type Transaction } from '../../../database/database.ts'
import { decisionFragment } from './call-fragments.ts'
import { statusIn, undialledStatesBefore } from './call-states.ts'

const cancelStatement = sql(
  'cancel-calls-of-batch.cancel',
  `update calls
      set status              = 'cancelled',
          answer_status       = 'unknown',
          cancel_requested_at = coalesce(cancel_requested_at, now()),
          cancelled_at        = now(),
          ended_at            = now(),
          lease_token         = null,
          created_at          = case when status = 'pending' then now() else created_at end,
          updated_at          = now(),
          ${decisionFragment({ decision: "'cancelled'", reason: "'Its batch was cancelled.'" })}
    where organization_id = $1
      and batch_id = $2
      and ${statusIn(undialledStatesBefore('cancelled'))}
   returning id`,
)

/**
 * Ends everything of a batch that is not being dialled, claimed calls included: the fence before the INVITE lets none of
 * them through. Answers the ids of the ended calls.
 */
export const cancelCallsOfBatch = async (
  tx: Transaction,
  organizationId: string,
  batchId: string,
): Promise<string[]> =>
  (await tx.rows<{ id: string }>(cancelStatement, [organizationId, batchId])).map((row) => row.id)
