import { Option, type Command } from 'commander'
import type { Batch } from '../../contract/batches.ts'
import { batchStatuses, type BatchStatus } from '../../contract/states.ts'
import type { Database } from '../../database/database.ts'
import { batchResource, type BatchRow } from '../../domains/batches/batch-resource.ts'
import { isBatchOver } from '../../domains/batches/batch-states.ts'
import { explainBatch } from '../../domains/batches/get-batch-explanation.ts'
import { listApiBatches, listOwnBatches } from '../../domains/batches/batch-store.ts'
import { listRecipients, type Recipient } from '../../domains/batches/list-recipients.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { programPath } from '../../runtime/program-path.ts'
import { requireBatch } from './batch-actions.ts'
import { batchBar } from './batch-bar.ts'
import { createWatchOutput, howToGoOn, watchBatches } from './batch-watch.ts'
import { UsageError, type CliContext } from '../cli-context.ts'
import { describeReasons, styledStatus } from '../call/describe-call.ts'
import { whileInterruptible } from '../terminal/interrupted.ts'
import { csvOf, readPages, showList, withListOptions, type ListOptions } from '../list-options.ts'
import { show, tellCsv, type Lines, type OutputOptions } from '../terminal/output.ts'
import {
  requireOrganization,
  requireOwner,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'
import { table } from '../terminal/table.ts'

interface ShowOptions extends OutputOptions, OrganizationOption {
  readonly recipients?: true
  readonly csv?: true
  readonly watch?: true
}

/** `outdial batch list|show`: batches of any origin. */
export const addBatchListCommands = (batch: Command, context: CliContext): void => {
  withListOptions(
    batch.command('list').description('batches, newest first, however they were made'),
  )
    .addOption(new Option('--status <status>', 'only those in this state').choices(batchStatuses))
    .action(async (options: ListOptions & { readonly status?: BatchStatus }) => {
      const batches = (await context.withDatabase((db) => listBatches(db, options))).map(
        batchResource,
      )
      showList(context, options, {
        resources: batches,
        heading: ['ID', 'STATUS', 'CREATED', 'ENDED', 'NAME'],
        rows: batches.map((each) => [
          each.id,
          each.status,
          each.created_at,
          `${endedOf(each)}/${each.total_recipients}`,
          each.name,
        ]),
        whenEmpty: `No batch to list: ${programPath()} batch run FILE.csv makes one.`,
      })
    })
  withOrganization(
    batch
      .command('show')
      .description('state and counters of a batch; its recipients with --recipients')
      .argument('<id>'),
    'batch',
  )
    .option('--recipients', 'each recipient, what became of the call, and why')
    .option('--csv', 'recipients as CSV, safe for spreadsheets')
    .option('--watch', 'show progress until the last call has ended')
    .option('--json', 'print JSON')
    .action(async (id: string, options: ShowOptions) => {
      if (options.csv && options.json) throw new UsageError('Choose one of --csv and --json.')
      await context.withDatabase((db) => showBatch(db, context, id, options))
    })
}

const endedOf = (batch: Batch): number =>
  batch.completed_recipients + batch.failed_recipients + batch.cancelled_recipients

/** What may block it; a batch with live calls goes on. */
const mayWait = ({ status, in_progress_recipients: live }: Batch): boolean =>
  !isBatchOver(status) && live === 0

/** Two indexes hold the API's batches and the others: the newest of both. */
const listBatches = async (
  db: Database,
  { org, limit, status }: ListOptions & { readonly status?: BatchStatus },
): Promise<BatchRow[]> => {
  const { id: organizationId } = await requireOrganization(db, org)
  const lists = await Promise.all(
    [listApiBatches, listOwnBatches].map((list) =>
      readPages(limit, (size, cursor: Parameters<typeof list>[1]['cursor']) =>
        list(db, { organizationId, limit: size, cursor, filters: { status } }),
      ),
    ),
  )
  return lists.flat().toSorted(newestFirst).slice(0, limit)
}

const newestFirst = (a: BatchRow, b: BatchRow): number =>
  b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1)

const showBatch = async (
  db: Database,
  context: CliContext,
  id: string,
  options: ShowOptions,
): Promise<void> => {
  const organizationId = await requireOwner(db, options, 'batch', id)
  await requireBatch(db, organizationId, id)
  if (options.watch) await watch(db, context, { organizationId, id }, options)
  const row = await requireBatch(db, organizationId, id)
  const batch = batchResource(row)
  const [reason] = mayWait(batch) ? await explainBatch(db, organizationId, row) : []
  const asksForRecipients = options.recipients === true || options.csv === true
  const recipients = asksForRecipients ? await listRecipients(db, organizationId, id) : undefined
  if (options.csv) return tellCsv(context, csvOf(recipients ?? []))
  show(context, options, recipients ? { ...batch, recipients } : batch, (width) => [
    `${batch.id}  ${batch.name}`,
    ...batchBar(batch, width),
    ...(reason
      ? [...describeReasons([reason]), `\`${programPath()} batch explain ${id}\` says more.`]
      : []),
    ...(recipients ? ['', ...describeRecipients(recipients, width)] : []),
  ])
}

const watch = async (
  db: Database,
  context: CliContext,
  { organizationId, id }: { readonly organizationId: OrganizationId; readonly id: string },
  { json }: ShowOptions,
): Promise<void> => {
  const form = json ? 'silent' : context.isTerminal ? 'bars' : 'lines'
  await whileInterruptible(context, howToGoOn(organizationId, [id]), () =>
    watchBatches(db, organizationId, [id], createWatchOutput(context, form)),
  )
}

const describeRecipients = (recipients: readonly Recipient[], width?: number): Lines =>
  table(
    ['NUMBER', 'NAME', 'STATUS', 'OUTCOME', 'REASON'],
    recipients.map((each) => [
      each.phone_number ?? '',
      each.name ?? '',
      styledStatus(each),
      each.outcome ?? '',
      each.reason ?? '',
    ]),
    'The batch has no recipients.',
    width,
  )
