import { basename, extname } from 'node:path'
import type { Command } from 'commander'
import type { Batch } from '../contract/batches.ts'
import type { Database, Queryable } from '../database/database.ts'
import { findAgent } from '../domains/agents/agent-store.ts'
import { runBatches } from '../domains/batches/run-file.ts'
import { hasDispatcher } from '../domains/calls/dispatchers.ts'
import { findIdentityConflicts } from '../domains/contacts/upsert-recipients.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import type { OrganizationRecord } from '../domains/organizations/organization-store.ts'
import { systemClock } from '../runtime/clock.ts'
import { addActions } from './batch-commands-actions.ts'
import { batchBar } from './batch-commands-bar.ts'
import { checkRows, type CheckedRow } from './batch-commands-check.ts'
import { readCsv } from './batch-commands-csv.ts'
import { describeProblems, refusedFile, type RowProblem } from './batch-commands-problems.ts'
import { createWatchOutput, watchBatches } from './batch-commands-watch.ts'
import type { CliContext } from './cli-context.ts'
import { show, warn, type OutputOptions } from './output.ts'
import { readTextFile } from './read-file.ts'
import { requireOrganization } from './require-organization.ts'

interface RunOptions extends OutputOptions {
  readonly org: string
  readonly agent: string
  readonly name?: string
  readonly watch?: true
  readonly skipInvalid?: true
}

/** `outdial batch run FILE.csv`: from a file to phones that ring; and what may be done about it afterwards. */
export const addBatchCommands = (program: Command, context: CliContext): void => {
  const batch = program.command('batch').description('many calls at once')
  addActions(batch, context)
  batch
    .command('run')
    .description('call everybody in a CSV file; nothing is created unless all of it is valid')
    .argument('<file>', 'CSV with a heading: external_id, name, phone_number, and other fields')
    .requiredOption('--org <org>', 'organization id')
    .requiredOption('--agent <agent>', 'agent id')
    .option('--name <name>', 'name of the batch; the file’s name')
    .option('--watch', 'show progress until the last call has ended')
    .option('--skip-invalid', 'leave out rows that are refused, and call the others')
    .option('--json', 'print JSON')
    .action(async (file: string, options: RunOptions) => {
      const text = readTextFile(file)
      await context.withDatabase((db) => run(db, context, file, text, options))
    })
}

const run = async (
  db: Database,
  context: CliContext,
  file: string,
  text: string,
  options: RunOptions,
): Promise<void> => {
  const organization = await requireOrganization(db, options.org)
  if (!(await findAgent(db, organization.id, options.agent))) {
    throw new OperatorError(
      `The organization has no agent ${options.agent}. \`outdial agent list\` names them.`,
    )
  }
  const { valid, problems } = await readRecipients(db, organization, text)
  if (problems.length > 0 && !options.skipInvalid) throw refusedFile(problems)
  if (problems.length > 0) warn(context, ['Rows left out:', ...describeProblems(problems)])
  if (valid.length === 0) throw new OperatorError('The file has no row that can be called.')
  const started = await runBatches(db, systemClock, {
    organizationId: organization.id,
    agentId: options.agent,
    name: options.name ?? basename(file, extname(file)),
    recipients: valid.map(({ input }) => input),
  })
  const batches = await follow(db, context, organization.id, started, options)
  if (batches) print(context, options, batches)
}

/** A file is checked whole before anything is created, so that its bound is also that of one transaction. */
const maxRows = 100_000

const readRecipients = async (
  db: Queryable,
  organization: OrganizationRecord,
  text: string,
): Promise<{ valid: readonly CheckedRow[]; problems: readonly RowProblem[] }> => {
  const file = readCsv(text)
  if ('fault' in file) throw refusedFile(file.fault)
  if (file.rows.length > maxRows) {
    throw new OperatorError(`The file has more than ${maxRows} rows: split it.`)
  }
  const checked = checkRows(file.rows, organization.policy)
  const conflicts = await findIdentityConflicts(
    db,
    organization.id,
    checked.valid.map(({ input }) => input),
  )
  const refused = new Set(conflicts)
  return {
    valid: checked.valid.filter((_, index) => !refused.has(index)),
    problems: [
      ...file.problems,
      ...checked.problems,
      ...conflicts.map((index) => conflictAt(checked.valid[index]?.row ?? 0)),
    ],
  }
}

const conflictAt = (row: number): RowProblem => ({
  row,
  column: 'phone_number',
  code: 'contact_identity_conflict',
  message: 'Another contact of the organization has this number.',
})

/** The batches to print at the end; undefined where they were printed line by line. */
const follow = async (
  db: Database,
  context: CliContext,
  organizationId: string,
  started: readonly Batch[],
  { watch, json }: RunOptions,
): Promise<readonly Batch[] | undefined> => {
  if (!watch) return started
  if (!(await hasDispatcher(db))) {
    warn(context, 'Nobody is at work: the batch is queued and begins with `outdial start`.')
    return started
  }
  const form = json ? 'silent' : context.isTerminal ? 'bars' : 'lines'
  const ended = await watchBatches(db, organizationId, started, createWatchOutput(context, form))
  return form === 'silent' ? ended : undefined
}

/** One Batch, or a list where the file took more than one. */
const print = (context: CliContext, options: RunOptions, batches: readonly Batch[]): void =>
  show(context, options, batches.length === 1 ? batches[0] : batches, (width) =>
    batches.flatMap((batch) => [`${batch.id}  ${batch.name}`, ...batchBar(batch, width)]),
  )
