import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import { runResource } from './run-resource.ts'
import { findRun } from './run-store.ts'

/**
 * GET /automation-runs/{run_id}: a run of any origin, because it may be the reason for refusing a duplicate (D6).
 */
export const getAutomationRun: ApiHandler<'getAutomationRun'> = async (
  { params },
  { db, organizationId },
) => {
  const row = await findRun(db, organizationId, params.run_id)
  if (!row) throw notFound()
  return runResource(row)
}
