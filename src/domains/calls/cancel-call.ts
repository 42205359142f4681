import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../../contract/operations.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { callResource } from './call-record.ts'
import type { OnCallEnded } from './call-ended.ts'
import { requestCancel } from './cancel-store.ts'
import { findApiCall } from './call-store.ts'
import type { SendHint } from './place-call.ts'

/** NOTIFY channel: a live call is to be cancelled. A hint; nodes look for themselves four times a second. */
export const cancellationsChannel = 'outdial_cancellations'

/**
 * POST /calls/{call_id}/cancel: a queued call ends at once, a live one is asked to, a finished one is answered
 * unchanged (D3). `onCallEnded` runs in the same transaction when the call ended here.
 */
export const createCancelCall =
  (hint: SendHint, onCallEnded: OnCallEnded): ApiHandler<'cancelCall', Queryable, Transaction> =>
  async ({ params }, { db, organizationId }) => {
    const cancelled = await requestCancel(db, organizationId, params.call_id)
    if (cancelled?.ended) await onCallEnded(db, cancelled.ended)
    else if (cancelled) db.afterCommit(() => hint(cancellationsChannel))
    const row = cancelled?.row ?? (await findApiCall(db, organizationId, params.call_id))
    if (!row) throw notFound()
    return callResource(row)
  }
