import type { Automation, AutomationStatus } from '../../contract/automations.ts'
import { automationStatuses } from '../../contract/automations.ts'
import type { Transaction } from '../../database/database.ts'
import { setSourcePaused } from '../calls/lane-store.ts'
import { callsChannel } from '../calls/queue-call.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { automationResource } from './automation-resource.ts'
import { mayBecome } from './automation-states.ts'
import { findAutomation, organizationOfAutomation, setStatus } from './automation-store.ts'
import { runsChannel } from './queue-run.ts'
import { wakeRunsOfAutomation } from './run-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** The runs to wake when their Automation gets this status. */
const wokenBy = { active: 'paused', paused: 'calls', archived: 'all' } as const

/**
 * Pauses, resumes or archives an Automation, named by its id alone. Paused: no new run, and active runs stay where
 * they are, except for live calls. Archived: active runs fail, once their live calls have ended. Setting the
 * present status changes nothing. Throws `OperatorError`.
 */
export const setAutomationStatus = async (
  tx: Transaction,
  automationId: string,
  to: Exclude<AutomationStatus, 'draft'>,
): Promise<Automation> => {
  const organizationId = await organizationOfAutomation(tx, automationId)
  if (organizationId === undefined)
    throw new OperatorError(`There is no Automation ${automationId}.`)
  const from = automationStatuses.filter((status) => mayBecome(status, to))
  const row = await setStatus(tx, organizationId, automationId, to, from)
  if (!row) return unchanged(tx, organizationId, automationId, to)
  await setSourcePaused(tx, organizationId, automationId, to !== 'active')
  await wakeRunsOfAutomation(tx, organizationId, automationId, wokenBy[to])
  tx.hintAfterCommit(runsChannel)
  tx.hintAfterCommit(callsChannel)
  return automationResource(row)
}

const unchanged = async (
  tx: Transaction,
  organizationId: OrganizationId,
  automationId: string,
  to: AutomationStatus,
): Promise<Automation> => {
  const row = await findAutomation(tx, organizationId, automationId)
  if (row?.status === to) return automationResource(row)
  throw new OperatorError(`An Automation that is ${row?.status} cannot become ${to}.`)
}
