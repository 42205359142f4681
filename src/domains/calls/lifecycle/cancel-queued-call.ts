import { sql, type Transaction } from '../../../database/database.ts'
import type { EndedCall } from './call-ended.ts'
import { decisionFragment, wokenFirst, wokenFragment } from './call-fragments.ts'
import { endedCall, type EndedRow } from './end-held-call.ts'
import { callColumns, type CallRow } from '../call-record.ts'
import { liveStates, statusIn, type CallOrigin } from './call-states.ts'

// One update for both cases: were they two, a call that turns from queued to dialing in this very moment would be
// missed by both, for each looks at the row as it was when the statement began.
const requestStatement = sql(
  'cancel-queued-call.requestCancel',
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
            ${decisionFragment({ decision: "'cancel_requested'", reason: "'Cancellation was asked for.'" })}
      where organization_id = $1
        and id = $2
        and ($3::text is null or origin = $3)
        and (status = 'queued' or (${statusIn(liveStates)} and cancel_requested_at is null))
        and ${wokenFirst}
     returning id, phone_number, origin, ${callColumns}
   )
   select * from changed`,
)

export interface CancelRequest {
  readonly row: CallRow
  /** Set when the call was still queued and has ended with this. */
  readonly ended: EndedCall | undefined
}

/** Undefined: nothing changed, because the call has ended, was asked before, or is none of this origin (any without one). */
export const requestCancel = async (
  tx: Transaction,
  organizationId: string,
  callId: string,
  origin: CallOrigin | undefined,
): Promise<CancelRequest | undefined> => {
  const row = await tx.row<CallRow & EndedRow>(requestStatement, [
    organizationId,
    callId,
    origin ?? null,
  ])
  if (!row) return undefined
  return {
    row,
    ended: row.status === 'cancelled' ? endedCall({ organizationId, callId }, row) : undefined,
  }
}

const cancelQueuedStatement = sql(
  'cancel-queued-call.cancelQueuedCall',
  `with ${wokenFragment},
   cancelled as (
     update calls
        set status              = 'cancelled',
            answer_status       = 'unknown',
            cancel_requested_at = coalesce(cancel_requested_at, now()),
            cancelled_at        = now(),
            ended_at            = now(),
            lease_token         = null,
            updated_at          = now(),
            ${decisionFragment({ decision: "'cancelled'", reason: '$3' })}
      where organization_id = $1
        and id = $2
        and status = 'queued'
        and ${wokenFirst}
     returning contact_id, agent_id, phone_number, origin, status, answer_status, batch_id, automation_run_id,
               connected_at, ended_at
   )
   select * from cancelled`,
)

/** Cancels a call of any origin that is not dialled yet. Undefined: it is live, or has ended. */
export const cancelQueuedCall = async (
  tx: Transaction,
  organizationId: string,
  callId: string,
  reason: string,
): Promise<EndedCall | undefined> => {
  const row = await tx.row<EndedRow>(cancelQueuedStatement, [organizationId, callId, reason])
  return row && endedCall({ organizationId, callId }, row)
}
