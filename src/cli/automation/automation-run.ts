import type { Command } from 'commander'
import { formatDateTime } from '../../contract/date-time.ts'
import type { Database } from '../../database/database.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { explainRun } from '../../domains/automations/explain-run.ts'
import { queueRun, runsChannel } from '../../domains/automations/queue-run.ts'
import { runResource } from '../../domains/automations/run-resource.ts'
import { findRun, listRunMoves, type RunMove } from '../../domains/automations/run-store.ts'
import type { CliContext } from '../cli-context.ts'
import { describeReasons } from '../call/describe-call.ts'
import { show, type OutputOptions } from '../terminal/output.ts'
import { requireOwner, withOrganization, type OrganizationOption } from '../require-organization.ts'
import { table } from '../terminal/table.ts'

/** `outdial automation run|explain`. */
export const addAutomationRunCommands = (automation: Command, context: CliContext): void => {
  withOrganization(
    automation
      .command('run')
      .description('run an Automation for a contact; the API does not list its calls')
      .argument('<id>', 'Automation id'),
    'Automation',
  )
    .requiredOption('--contact <contact>', 'contact id')
    .option('--json', 'print JSON')
    .action(
      async (id: string, options: OutputOptions & OrganizationOption & { contact: string }) => {
        const run = await context.withDatabase(async (db) => {
          const organizationId = await requireOwner(db, options, 'Automation', id)
          return db.transaction(async (tx) => {
            tx.hintAfterCommit(runsChannel)
            return runResource(
              await queueRun(tx, organizationId, {
                automationId: id,
                contactId: options.contact,
                origin: 'cli',
              }),
            )
          })
        })
        show(context, options, run, () => `Run ${run.id} is ${run.status}.`)
      },
    )
  addRunExplanation(automation, context, 'explain')
}

/** `outdial automation explain RUN`, and `outdial run show|explain RUN`. */
export const addRunExplanation = (group: Command, context: CliContext, name: string): void => {
  withOrganization(
    group
      .command(name)
      .description('show what a run did, when, and why')
      .argument('<run>', 'run id'),
    'run',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const { run, moves, reasons, call } = await context.withDatabase((db) =>
        explain(db, options, id),
      )
      const told = { run, reasons, moves: moves.map(moveJson), ...(call && { call }) }
      show(context, options, told, (width) => [
        ...table(heading, moves.map(moveRow), 'It has not begun.', width),
        '',
        `The run is ${run.status}${run.failure_code === undefined ? '' : ` (${run.failure_code})`}.`,
        ...(call ? [`Its call ${call.id} is ${call.status}.`] : []),
        ...describeReasons(reasons),
      ])
    })
}

const explain = async (db: Database, options: OrganizationOption, id: string) => {
  const organizationId = await requireOwner(db, options, 'run', id)
  const [row, explanation] = await Promise.all([
    findRun(db, organizationId, id),
    explainRun(db, organizationId, id),
  ])
  if (!row || !explanation) throw new OperatorError(`There is no run ${id}.`)
  const { reasons, call } = explanation
  return { run: runResource(row), moves: await listRunMoves(db, organizationId, id), reasons, call }
}

const heading = ['AT', 'STEP', 'MOVE', 'UNTIL', 'WHY']

const moveRow = (move: RunMove): string[] => [
  formatDateTime(move.at),
  move.step ?? '',
  move.move,
  move.until ? formatDateTime(move.until) : '',
  move.reason,
]

const moveJson = (move: RunMove) => ({
  sequence: move.sequence,
  at: formatDateTime(move.at),
  step: move.step,
  move: move.move,
  ...(move.attempt !== null && { attempt: move.attempt }),
  ...(move.call_id !== null && { call_id: move.call_id }),
  ...(move.until && { until: formatDateTime(move.until) }),
  reason: move.reason,
})
