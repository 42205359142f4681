import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { Transaction } from '../../database/database.ts'
import { callResource, type CallRow } from './call-record.ts'
import type { CallOrigin } from './lifecycle/call-states.ts'
import type { OnCallEnded } from './lifecycle/call-ended.ts'
import { requestCancel } from './lifecycle/cancel-queued-call.ts'
import { findApiCall } from './call-store.ts'

/** NOTIFY channel: a live call is to be cancelled. A hint; nodes look for themselves four times a second. */
export const cancellationsChannel = 'outdial_cancellations'

/**
 * POST /calls/{call_id}/cancel: a queued call ends at once, a live one is asked to, a finished one is answered
 * unchanged (D3).
 */
export const cancelCall: ApiHandler<'cancelCall', { readonly onCallEnded: OnCallEnded }> = async (
  { params },
  { db, organizationId, parts: { onCallEnded } },
) => {
  const row =
    (await cancelCallById(db, onCallEnded, organizationId, params.call_id, 'api')) ??
    (await findApiCall(db, organizationId, params.call_id))
  if (!row) throw notFound()
  return callResource(row)
}

/** Cancels a call of this origin, of any without one. What has ended, or is unknown, stays as it is. */
export const cancelCallById = async (
  tx: Transaction,
  onCallEnded: OnCallEnded,
  organizationId: string,
  callId: string,
  origin: CallOrigin | undefined,
): Promise<CallRow | undefined> => {
  const cancelled = await requestCancel(tx, organizationId, callId, origin)
  if (cancelled?.ended) await onCallEnded(tx, cancelled.ended)
  else if (cancelled) tx.hintAfterCommit(cancellationsChannel)
  return cancelled?.row
}
