import { Option, type Command } from 'commander'
import { endCall } from '../../compose/call-end.ts'
import { automationRunStatuses, type AutomationRunStatus } from '../../contract/automation-runs.ts'
import { cancelRun } from '../../domains/automations/cancel-automation-run.ts'
import { runResource } from '../../domains/automations/run-resource.ts'
import { findRun, listRunRows, type RunRow } from '../../domains/automations/run-store.ts'
import type { Database } from '../../database/database.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { isUuid } from '../../runtime/ids.ts'
import { programPath } from '../../runtime/program-path.ts'
import { addRunExplanation } from './automation-run.ts'
import type { CliContext } from '../cli-context.ts'
import { readPages, showList, withListOptions, type ListOptions } from '../list-options.ts'
import { show, type OutputOptions } from '../terminal/output.ts'
import {
  requireOrganization,
  requireOwner,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'

interface RunListOptions extends ListOptions {
  readonly status?: AutomationRunStatus
  readonly automation?: string
  readonly contact?: string
}

/** `outdial run list|show|cancel`: runs of Automations from any origin. */
export const addRunCommands = (program: Command, context: CliContext): void => {
  const run = program.command('run').description('runs of Automations')
  withListOptions(run.command('list').description('runs, newest first'))
    .addOption(
      new Option('--status <status>', 'only those in this state').choices(automationRunStatuses),
    )
    .option('--automation <automation>', 'only those of this Automation')
    .option('--contact <contact>', 'only those for this contact')
    .action(async (options: RunListOptions) => {
      const rows = await context.withDatabase((db) => listRuns(db, options))
      showList(context, options, {
        resources: rows.map(runResource),
        heading: ['ID', 'STATUS', 'CONTACT', 'QUEUED', 'FAILURE'],
        rows: rows.map((row) => [
          row.id,
          row.status,
          row.contact_id,
          row.queued_at.toISOString(),
          row.failure_code ?? '',
        ]),
        whenEmpty: `No run to list: ${programPath()} automation run ID --contact CONTACT makes one.`,
      })
    })
  addRunExplanation(run, context, 'show')
  addRunExplanation(run, context, 'explain')
  withOrganization(
    run
      .command('cancel')
      .description('start nothing more of a run; its live call finishes')
      .argument('<id>'),
    'run',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const row = await context.withDatabase(async (db) => {
        const organizationId = await requireOwner(db, options, 'run', id)
        if (!(await findRun(db, organizationId, id)))
          throw new OperatorError(`The organization has no run ${id}.`)
        return db.transaction((tx) => cancelRun(tx, endCall, organizationId, id))
      })
      show(context, options, runResource(row), () => cancelSentence(row))
    })
}

const cancelSentence = ({ id, status }: RunRow): string => {
  if (status === 'cancelled') return `Run ${id} is cancelled.`
  return status === 'completed' || status === 'failed'
    ? `Run ${id} has ended already: ${status}.`
    : `Run ${id} has a live call. It is cancelled when its live call ends.`
}

const listRuns = async (db: Database, options: RunListOptions): Promise<RunRow[]> => {
  const { org, limit, status, automation, contact } = options
  const { id: organizationId } = await requireOrganization(db, org)
  if (![automation, contact].every((id) => id === undefined || isUuid(id))) return []
  const filters = { status, automation_id: automation, contact_id: contact }
  return readPages(limit, (size, cursor: Parameters<typeof listRunRows>[1]['cursor']) =>
    listRunRows(db, { organizationId, limit: size, cursor, filters }),
  )
}
