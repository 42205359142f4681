import { sql } from '../../../database/database.ts'
import { decisionFragment, wokenFirst, wokenFragment } from './call-fragments.ts'
import { liveStates, statusIn, type CallOrigin } from './call-states.ts'
import type { Ending } from './end-call.ts'
import { endedColumns } from './ended-call.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'

// One update for a queued call and a live one. Two updates would both miss a call that changes from queued to
// dialing at this moment, because each reads the row as it was when its statement began.
const cancelStatement = sql(
  'cancel-queued-call.cancel',
  `with ${wokenFragment},
   changed as (
     update calls
        set status              = case when status = 'queued' then 'cancelled' else status end,
            answer_status       = case when status = 'queued' then 'unknown' else answer_status end,
            cancel_requested_at = coalesce(cancel_requested_at, now()),
            cancelled_at        = case when status = 'queued' then now() end,
            ended_at            = case when status = 'queued' then now() end,
            lease_token         = case when status = 'queued' then null else lease_token end,
            updated_at          = now(),
            ${decisionFragment({ decision: '$5', reason: '$6' })}
      where organization_id = $1
        and id = $2
        and ($3::text is null or origin = $3)
        and (status = 'queued' or ($4 and ${statusIn(liveStates)} and cancel_requested_at is null))
        and ${wokenFirst}
     returning ${endedColumns}
   )
   select * from changed`,
)

/**
 * Cancels a queued call of this origin, by default of any; marks a live one, so that its node hangs up and ends it.
 * Nothing changes if it has ended, or the cancellation was already requested.
 */
export const requestCancel = (
  organizationId: OrganizationId,
  callId: string,
  origin: CallOrigin | undefined,
): Ending => ({
  statement: cancelStatement,
  organizationId,
  values: [callId, origin ?? null, true, 'cancel_requested', 'Cancellation was asked for.'],
})

/** Cancels a call of any origin that is not dialled yet. Nothing changes if it is live, or has ended. */
export const cancelQueued = (
  organizationId: OrganizationId,
  callId: string,
  reason: string,
): Ending => ({
  statement: cancelStatement,
  organizationId,
  values: [callId, null, false, 'cancelled', reason],
})
