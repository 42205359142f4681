import { sql, type Transaction } from '../../../database/database.ts'
import { statusIn, undialledStatesBefore } from './call-states.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'

// A recipient becomes a call now, so it gets its creation time now: a client that lists calls by time misses none.
const queueStatement = sql(
  'queue-pending-calls.queue',
  `update calls
      set status     = 'queued',
          queued_at  = now(),
          not_before = now(),
          created_at = now(),
          updated_at = now()
    where organization_id = $1
      and batch_id = $2
      and ${statusIn(undialledStatesBefore('queued'))}`,
)

/** `pending` → `queued`, all in one statement. The caller has woken the organization. */
export const queuePendingCalls = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
): Promise<void> => {
  await tx.run(queueStatement, [organizationId, batchId])
}
