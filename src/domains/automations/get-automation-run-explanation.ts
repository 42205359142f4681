import { notFound } from '../../contract/api-error.ts'
import type { ApiHandler } from '../api-handler.ts'
import { explainRun } from './explain-run.ts'

/** GET /automation-runs/{run_id}/explanation: of runs of any origin, as GET shows them (D6, D19). */
export const getAutomationRunExplanation: ApiHandler<'getAutomationRunExplanation'> = async (
  { params },
  { db, organizationId },
) => {
  const explanation = await explainRun(db, organizationId, params.run_id, 'api')
  if (!explanation) throw notFound()
  const { status, reasons, call } = explanation
  return {
    object: 'explanation',
    status,
    reasons: [...reasons],
    ...(call && { attempts: [...call.decisions] }),
  }
}
