import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import { callResource } from './call-record.ts'
import { findApiCall } from './call-store.ts'

/** GET /calls/{call_id}: only calls made through the API (D3). */
export const getCall: ApiHandler<'getCall'> = async ({ params }, { db, organizationId }) => {
  const row = await findApiCall(db, organizationId, params.call_id)
  if (!row) throw notFound()
  return callResource(row)
}
