import { notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { automationProblems } from '../../domains/automations/agent-problems.ts'
import { automationResource } from '../../domains/automations/automation-resource.ts'
import {
  findAutomation,
  findVersion,
  type AutomationRow,
} from '../../domains/automations/automation-store.ts'
import { listAutomations as list } from '../../domains/automations/list-automations.ts'
import { publishAutomation as publish } from '../../domains/automations/publish-automation.ts'
import { countRunsAtSteps as countRuns } from '../../domains/automations/run-position-store.ts'
import { setAutomationStatus as set } from '../../domains/automations/set-automation-status.ts'
import { simulateAutomation as simulate } from '../../domains/automations/simulate-automation.ts'
import { listVersions } from '../../domains/automations/version-store.ts'
import { systemTime } from '../../runtime/time.ts'
import { asTold, note, type ConsoleHandler } from '../console-handler.ts'

export const listAutomations: ConsoleHandler<'listAutomations'> = list

const requireAutomation = async (
  db: Queryable,
  organizationId: OrganizationId,
  automationId: string,
): Promise<AutomationRow> => {
  const row = await findAutomation(db, organizationId, automationId)
  if (!row) throw notFound()
  return row
}

/** One that this program cannot read is shown as it is stored. */
export const getAutomation: ConsoleHandler<'getAutomation'> = async (
  { params, query },
  { db, organizationId },
) => {
  const row = await requireAutomation(db, organizationId, params.automation_id)
  const version = query.version ?? row.published_version
  const definition = await findVersion(db, organizationId, row.id, version)
  if (typeof definition !== 'object' || definition === null) throw notFound()
  return {
    ...automationResource(row),
    version,
    published_version: row.published_version,
    definition: { ...definition },
  }
}

export const listAutomationVersions: ConsoleHandler<'listAutomationVersions'> = async (
  { params },
  { db, organizationId },
) => {
  const { id } = await requireAutomation(db, organizationId, params.automation_id)
  const rows = await listVersions(db, organizationId, id)
  return {
    data: rows.map(({ version, created_at: at }) => ({ version, created_at: formatDateTime(at) })),
  }
}

export const countRunsAtSteps: ConsoleHandler<'countRunsAtSteps'> = async (
  { params },
  { db, organizationId },
) => {
  const { id } = await requireAutomation(db, organizationId, params.automation_id)
  return { data: await countRuns(db, organizationId, id) }
}

/** As many as the contract allows; a file has more only where it is far from an Automation. */
const maxProblems = 100

export const checkAutomation: ConsoleHandler<'checkAutomation'> = async (
  { body },
  { db, organizationId },
) => {
  const problems = await automationProblems(db, organizationId, body)
  return {
    problems: problems.slice(0, maxProblems).map(({ path, message }) => ({ path, message })),
    truncated: problems.length > maxProblems,
  }
}

/** Of the sandbox: any zone's hours can be tried with another number. */
const exampleNumber = '+12025550100'

export const simulateAutomation: ConsoleHandler<'simulateAutomation'> = async (
  { body },
  { db, organizationId },
) => {
  const startsAt = body.starts_at
  const {
    time_zones: timeZones,
    entries,
    ...run
  } = await asTold(
    simulate(db, organizationId, {
      definition: body.definition,
      contactId: body.contact_id,
      phoneNumber: body.phone_number ?? exampleNumber,
      answers: body.answers,
      startMs: startsAt === undefined ? systemTime.now().getTime() : Date.parse(startsAt),
    }),
  )
  return { ...run, time_zones: [...timeZones], entries: [...entries] }
}

export const createAutomation: ConsoleHandler<'createAutomation'> = async (
  { query, body },
  context,
) => {
  const { db, organizationId } = context
  const isDraft = query.status === 'draft'
  const made = await asTold(publish(db, organizationId, body, { isDraft }))
  await note(db, context, {
    action: 'automation.create',
    target: { type: 'automation', id: made.id },
    after: { name: made.name, status: made.status, version: 1 },
  })
  return made
}

export const publishAutomation: ConsoleHandler<'publishAutomation'> = async (
  { params, query, body },
  context,
) => {
  const { db, organizationId } = context
  const { automation_id: automationId } = params
  const before = await requireAutomation(db, organizationId, automationId)
  const options = { automationId: before.id, baseVersion: query.base_version }
  const published = await asTold(publish(db, organizationId, body, options))
  const after = await requireAutomation(db, organizationId, automationId)
  await note(db, context, {
    action: 'automation.publish',
    target: { type: 'automation', id: before.id },
    before: { name: before.name, version: after.published_version - 1 },
    after: { name: published.name, version: after.published_version },
  })
  return published
}

export const setAutomationStatus: ConsoleHandler<'setAutomationStatus'> = async (
  { params, body },
  context,
) => {
  const { db, organizationId } = context
  const before = await requireAutomation(db, organizationId, params.automation_id)
  const changed = await asTold(set(db, before.id, body.status))
  if (changed.status !== before.status)
    await note(db, context, {
      action: 'automation.set_status',
      target: { type: 'automation', id: before.id },
      before: { status: before.status },
      after: { status: changed.status },
    })
  return changed
}
