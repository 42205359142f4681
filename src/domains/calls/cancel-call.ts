import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import type { Transaction } from '../../database/database.ts'
import { callResource } from './call-record.ts'
import type { CallOrigin } from './lifecycle/call-states.ts'
import type { EndCall } from './lifecycle/end-call.ts'
import { requestCancel } from './lifecycle/cancel-queued-call.ts'
import { findApiCall } from './call-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** NOTIFY channel: a live call is to be cancelled. Only a hint; nodes check by themselves four times a second. */
export const cancellationsChannel = 'outdial_cancellations'

/**
 * POST /calls/{call_id}/cancel: a queued call ends at once, a live one is asked to, a finished one is returned
 * unchanged (D3).
 */
export const cancelCall: ApiHandler<'cancelCall', { readonly endCall: EndCall }> = async (
  { params },
  { db, organizationId, parts: { endCall } },
) => {
  // The row is read behind the cancellation, in the same round trip.
  const [, row] = await Promise.all([
    cancelCallById(db, endCall, organizationId, params.call_id, 'api'),
    findApiCall(db, organizationId, params.call_id),
  ])
  if (!row) throw notFound()
  return callResource(row)
}

/** Cancels a call of this origin; of any origin by default. An ended or unknown call stays unchanged. */
export const cancelCallById = async (
  tx: Transaction,
  endCall: EndCall,
  organizationId: OrganizationId,
  callId: string,
  origin: CallOrigin | undefined,
): Promise<void> => {
  const ended = await endCall(tx, requestCancel(organizationId, callId, origin))
  // A live one may have been marked; a hint for nothing is harmless.
  if (ended.length === 0) tx.hintAfterCommit(cancellationsChannel)
}
