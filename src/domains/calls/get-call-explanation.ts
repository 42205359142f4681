import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import { findApiCall } from './call-store.ts'
import { explainCall } from './explain-call.ts'

/** GET /calls/{call_id}/explanation: of the calls that GET /calls/{call_id} shows (D19). */
export const getCallExplanation: ApiHandler<'getCallExplanation'> = async (
  { params },
  { db, organizationId },
) => {
  // A pending recipient of a batch is not yet a call, and neither statement finds one.
  const [call, explanation] = await Promise.all([
    findApiCall(db, organizationId, params.call_id),
    explainCall(db, organizationId, params.call_id, 'api'),
  ])
  if (!call || !explanation) throw notFound()
  const { status, reasons, decisions } = explanation
  return { object: 'explanation', status, reasons: [...reasons], attempts: [...decisions] }
}
