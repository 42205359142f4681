import { organizationOfAutomation } from '../../domains/automations/automation-store.ts'
import { cancelRun as cancel } from '../../domains/automations/cancel-automation-run.ts'
import { getAutomationRun } from '../../domains/automations/get-automation-run.ts'
import { getAutomationRunExplanation } from '../../domains/automations/get-automation-run-explanation.ts'
import { listAutomationRuns } from '../../domains/automations/list-automation-runs.ts'
import { listAutomations as list } from '../../domains/automations/list-automations.ts'
import { publishAutomation as publish } from '../../domains/automations/publish-automation.ts'
import { queueRun, runsChannel } from '../../domains/automations/queue-run.ts'
import { runResource } from '../../domains/automations/run-resource.ts'
import { setAutomationStatus as set } from '../../domains/automations/set-automation-status.ts'
import { showAutomation } from '../../domains/automations/show-automation.ts'
import { asTold, note, requireOwn, type ConsoleHandler } from '../console-handler.ts'

export const listAutomations: ConsoleHandler<'listAutomations'> = list
export const listRuns: ConsoleHandler<'listRuns'> = listAutomationRuns
export const getRun: ConsoleHandler<'getRun'> = getAutomationRun
export const getRunExplanation: ConsoleHandler<'getRunExplanation'> = getAutomationRunExplanation

export const getAutomation: ConsoleHandler<'getAutomation'> = async ({ params }, context) => {
  const { automation_id: id } = params
  requireOwn(context, await organizationOfAutomation(context.db, id))
  const shown = await asTold(showAutomation(context.db, id))
  return { ...shown, definition: { ...shown.definition } }
}

export const createAutomation: ConsoleHandler<'createAutomation'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const made = await asTold(publish(db, organizationId, body))
  await note(db, context, {
    action: 'automation.create',
    target: { type: 'automation', id: made.id },
    after: { name: made.name, status: made.status },
  })
  return made
}

export const publishAutomation: ConsoleHandler<'publishAutomation'> = async (
  { params, body },
  context,
) => {
  const { db, organizationId } = context
  const { automation_id: automationId } = params
  requireOwn(context, await organizationOfAutomation(db, automationId))
  const published = await asTold(publish(db, organizationId, body, { automationId }))
  await note(db, context, {
    action: 'automation.publish',
    target: { type: 'automation', id: automationId },
    after: { name: published.name },
  })
  return published
}

export const setAutomationStatus: ConsoleHandler<'setAutomationStatus'> = async (
  { params, body },
  context,
) => {
  const { db } = context
  const { automation_id: id } = params
  requireOwn(context, await organizationOfAutomation(db, id))
  const changed = await asTold(set(db, id, body.status))
  await note(db, context, {
    action: 'automation.set_status',
    target: { type: 'automation', id },
    after: { status: changed.status },
  })
  return changed
}

export const startRun: ConsoleHandler<'startRun'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const row = await queueRun(db, organizationId, {
    automationId: body.automation_id,
    contactId: body.contact_id,
    origin: 'dashboard',
  })
  db.hintAfterCommit(runsChannel)
  await note(db, context, {
    action: 'run.start',
    target: { type: 'run', id: row.id },
    after: { automation_id: body.automation_id, contact_id: body.contact_id },
  })
  return runResource(row)
}

export const cancelRun: ConsoleHandler<'cancelRun'> = async ({ params }, context) => {
  const { db, organizationId, parts } = context
  const row = await cancel(db, parts.endCall, organizationId, params.run_id)
  await note(db, context, {
    action: 'run.cancel',
    target: { type: 'run', id: row.id },
    after: { status: row.status },
  })
  return runResource(row)
}
