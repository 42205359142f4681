import { basename, extname } from 'node:path'
import type { Command } from 'commander'
import type { Batch } from '../../contract/batches.ts'
import type { Database } from '../../database/database.ts'
import { findAgent } from '../../domains/agents/agent-store.ts'
import { runBatches } from '../../domains/batches/run-file.ts'
import { hasDispatcher } from '../../domains/calls/dispatchers.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { systemTime } from '../../runtime/time.ts'
import { programPath } from '../../runtime/program-path.ts'
import { addActions } from './batch-actions.ts'
import { batchBar } from './batch-bar.ts'
import { addBatchExplanation } from './batch-explain.ts'
import { addBatchForecast } from './batch-forecast.ts'
import { addBatchListCommands } from './batch-list.ts'
import { createWatchOutput, howToGoOn, watchBatches } from './batch-watch.ts'
import type { CliContext } from '../cli-context.ts'
import {
  acceptedInputs,
  readContactFile,
  showCheck,
  withContactFileOptions,
  type ContactFileOptions,
} from '../contact/contact-file.ts'
import { whileInterruptible } from '../terminal/interrupted.ts'
import { show, tell, warn } from '../terminal/output.ts'
import { readTextFile } from '../read-file.ts'
import {
  requireOrganization,
  requireOwner,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { plural } from '../../runtime/plural.ts'

interface RunOptions extends ContactFileOptions, OrganizationOption {
  readonly agent: string
  readonly name?: string
  readonly watch?: true
}

/** `outdial batch run FILE.csv`: from a file to ringing phones; and the actions on it afterwards. */
export const addBatchCommands = (program: Command, context: CliContext): void => {
  const batch = program.command('batch').description('many calls at once')
  addBatchListCommands(batch, context)
  addBatchExplanation(batch, context)
  addBatchForecast(batch, context)
  addActions(batch, context)
  withContactFileOptions(
    withOrganization(
      batch
        .command('run')
        .description('call everybody in a CSV file; nothing is created unless all of it is valid')
        .argument(
          '<file>',
          'CSV with a heading: external_id, name, phone_number, and other fields',
        ),
      'agent',
    )
      .requiredOption('--agent <agent>', 'agent id')
      .option('--name <name>', 'name of the batch; the file’s name')
      .option('--watch', 'show progress until the last call has ended'),
  ).action(async (file: string, options: RunOptions) => {
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
  const owner = await requireOwner(db, options, 'agent', options.agent)
  const organization = await requireOrganization(db, owner)
  if (!(await findAgent(db, organization.id, options.agent))) {
    throw new OperatorError(
      `The organization has no agent ${options.agent}. \`${programPath()} agent list\` names them.`,
    )
  }
  const { country } = options
  const { policy } = organization
  const contacts = await readContactFile(db, organization.id, text, { country, policy })
  if (options.check) return showCheck(context, options, contacts)
  const started = await runBatches(db, systemTime, {
    organizationId: organization.id,
    agentId: options.agent,
    name: options.name ?? basename(file, extname(file)),
    recipients: acceptedInputs(context, contacts, options),
  })
  tellIds(context, started, options)
  const batches = await follow(db, context, started, { ...options, org: organization.id })
  if (batches) print(context, { ...options, org: organization.id }, batches)
}

/** Printed first: the batch can be watched and stopped even if this command ends. */
const tellIds = (
  context: CliContext,
  started: readonly Batch[],
  { json, watch }: RunOptions,
): void => {
  const lines = started.map(
    ({ id, status, total_recipients: total }) =>
      `Batch ${id} is ${status}: ${plural(total, 'recipient')}.`,
  )
  // When a program reads standard output, it contains only documents.
  if (json || (watch && !context.isTerminal)) warn(context, lines)
  else tell(context, lines)
}

/** The batches to print at the end; undefined if they were printed line by line. */
const follow = async (
  db: Database,
  context: CliContext,
  started: readonly Batch[],
  { org, watch, json }: RunOptions & { readonly org: OrganizationId },
): Promise<readonly Batch[] | undefined> => {
  if (!(await hasDispatcher(db))) {
    warn(
      context,
      `No service is at work: the batch is queued and begins with \`${programPath()} start\`.`,
    )
    return started
  }
  if (!watch) return started
  const form = json ? 'silent' : context.isTerminal ? 'bars' : 'lines'
  const ids = started.map(({ id }) => id)
  const ended = await whileInterruptible(context, howToGoOn(org, ids), () =>
    watchBatches(db, org, ids, createWatchOutput(context, form)),
  )
  return form === 'silent' ? ended : undefined
}

/** One Batch, or a list if the file became more than one. */
const print = (
  context: CliContext,
  options: RunOptions & { readonly org: OrganizationId },
  batches: readonly Batch[],
): void =>
  show(context, options, batches.length === 1 ? batches[0] : batches, (width) => [
    ...batches.flatMap((batch) => [`${batch.id}  ${batch.name}`, ...batchBar(batch, width)]),
    ...howToGoOn(
      options.org,
      batches.map(({ id }) => id),
    ),
  ])
