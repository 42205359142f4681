import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import { automationResource } from './automation-resource.ts'
import { findAutomation } from './automation-store.ts'

/** GET /automations/{automation_id}. */
export const getAutomation: ApiHandler<'getAutomation'> = async (
  { params },
  { db, organizationId },
) => {
  const row = await findAutomation(db, organizationId, params.automation_id)
  if (!row) throw notFound()
  return automationResource(row)
}
