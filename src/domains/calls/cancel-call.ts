import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../../contract/operations.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { callResource, type CallRow } from './call-record.ts'
import type { CallOrigin } from './call-states.ts'
import type { OnCallEnded } from './call-ended.ts'
import { requestCancel } from './cancel-store.ts'
import { findApiCall } from './call-store.ts'
import type { SendHint } from './place-call.ts'

/** NOTIFY channel: a live call is to be cancelled. A hint; nodes look for themselves four times a second. */
export const cancellationsChannel = 'outdial_cancellations'

/** What a cancellation tells others: nodes with live calls, and what hangs on a call that has ended. */
export interface CancelEffects {
  readonly hint: SendHint
  /** Runs in the same transaction when the call ended here. */
  readonly onCallEnded: OnCallEnded
}

/**
 * POST /calls/{call_id}/cancel: a queued call ends at once, a live one is asked to, a finished one is answered
 * unchanged (D3).
 */
export const createCancelCall =
  (hint: SendHint, onCallEnded: OnCallEnded): ApiHandler<'cancelCall', Queryable, Transaction> =>
  async ({ params }, { db, organizationId }) => {
    const effects = { hint, onCallEnded }
    const row =
      (await cancelCall(db, effects, organizationId, params.call_id, 'api')) ??
      (await findApiCall(db, organizationId, params.call_id))
    if (!row) throw notFound()
    return callResource(row)
  }

/** Cancels a call of this origin, of any without one. What has ended, or is unknown, stays as it is. */
export const cancelCall = async (
  tx: Transaction,
  { hint, onCallEnded }: CancelEffects,
  organizationId: string,
  callId: string,
  origin: CallOrigin | undefined,
): Promise<CallRow | undefined> => {
  const cancelled = await requestCancel(tx, organizationId, callId, origin)
  if (cancelled?.ended) await onCallEnded(tx, cancelled.ended)
  else if (cancelled) tx.afterCommit(() => hint(cancellationsChannel))
  return cancelled?.row
}
