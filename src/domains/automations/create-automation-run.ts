import { keyOf } from '../../contract/principal.ts'
import type { ApiHandler } from '../api-handler.ts'
import { queueRun, runsChannel } from './queue-run.ts'
import { runResource } from './run-resource.ts'

/** POST /automation-runs: starts a contact's run of an active Automation (D6). */
export const createAutomationRun: ApiHandler<'createAutomationRun'> = async (
  { body },
  { db, organizationId, principal },
) => {
  const row = await queueRun(db, organizationId, {
    automationId: body.automation_id,
    contactId: body.contact_id,
    origin: 'api',
    apiKeyId: keyOf(principal),
  })
  db.hintAfterCommit(runsChannel)
  return runResource(row)
}
