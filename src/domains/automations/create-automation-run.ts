import type { ApiHandler } from '../../contract/operations.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import type { SendHint } from '../calls/place-call.ts'
import { queueRun, runsChannel } from './queue-run.ts'
import { runResource } from './run-resource.ts'

/** POST /automation-runs: a contact on its way through an active Automation (D6). */
export const createCreateAutomationRun =
  (hint: SendHint): ApiHandler<'createAutomationRun', Queryable, Transaction> =>
  async ({ body }, { db, organizationId }) => {
    const row = await queueRun(db, organizationId, {
      automationId: body.automation_id,
      contactId: body.contact_id,
      origin: 'api',
    })
    db.afterCommit(() => hint(runsChannel))
    return runResource(row)
  }
