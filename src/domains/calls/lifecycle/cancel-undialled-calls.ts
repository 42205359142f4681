import { sql } from '../../../database/database.ts'
import { decisionFragment } from './call-fragments.ts'
import { statusIn, undialledStatesBefore } from './call-states.ts'
import type { Ending } from './end-call.ts'
import { endedColumns } from './ended-call.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'

const cancelStatement = sql(
  'cancel-undialled-calls.cancel',
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
   returning ${endedColumns}`,
)

/**
 * Cancels every call of a batch that is not being dialled, including claimed calls: the fence before the INVITE
 * stops these. The caller has locked the organization.
 */
export const cancelUndialled = (organizationId: OrganizationId, batchId: string): Ending => ({
  statement: cancelStatement,
  organizationId,
  values: [batchId],
})
