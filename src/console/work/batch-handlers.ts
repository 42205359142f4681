import { notFound, notFoundInBody } from '../../contract/api-error.ts'
import type { Batch } from '../../contract/batches.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { Transaction } from '../../database/database.ts'
import { newestOf } from '../../database/newest-first.ts'
import { findAgent } from '../../domains/agents/agent-store.ts'
import { batchResource, type BatchRow } from '../../domains/batches/batch-resource.ts'
import { findBatch, listApiBatches, listOwnBatches } from '../../domains/batches/batch-store.ts'
import { cancelBatchById } from '../../domains/batches/cancel-batch.ts'
import { draftBatch } from '../../domains/batches/create-batch.ts'
import { draftRetry } from '../../domains/batches/draft-retry.ts'
import { expectBatchEnd } from '../../domains/batches/expect-batch-end.ts'
import { explainBatch } from '../../domains/batches/get-batch-explanation.ts'
import { listRecipients as list } from '../../domains/batches/list-recipients.ts'
import { forecastBatch as forecast } from '../../domains/batches/forecast/forecast-batch.ts'
import { pauseBatchById } from '../../domains/batches/pause-batch.ts'
import { previewWindow as preview } from '../../domains/batches/preview-window.ts'
import { startBatchById } from '../../domains/batches/start-batch.ts'
import { acceptedPortions } from '../../domains/contacts/file/accepted-recipients.ts'
import { findImport } from '../../domains/contacts/file/import-store.ts'
import { findPhoneNumbers } from '../../domains/contacts/contacts-of-recipients.ts'
import { findOrganization } from '../../domains/organizations/organization-store.ts'
import { isUuid } from '../../runtime/ids.ts'
import { note, type ConsoleHandler } from '../console-handler.ts'

/** Two indexes hold the API's batches and the others. */
const listEveryBatch = newestOf<BatchRow, 'status'>([listApiBatches, listOwnBatches])

export const listBatches: ConsoleHandler<'listBatches'> = async (
  { query: { limit, cursor, ...filters } },
  { db, organizationId },
) => {
  const page = await listEveryBatch(db, { organizationId, limit, cursor, filters })
  return { data: page.rows.map(batchResource), next: page.next }
}

export const getBatch: ConsoleHandler<'getBatch'> = async (
  { params },
  { db, organizationId, parts },
) => {
  const row = await findBatch(db, organizationId, params.batch_id, undefined)
  if (!row) throw notFound()
  parts.showToFollowers(organizationId, 'batch', row.id)
  const [reasons, end, agent] = await Promise.all([
    explainBatch(db, organizationId, row),
    expectBatchEnd(db, organizationId, row, parts.clock.now()),
    findAgent(db, organizationId, row.agent_id),
  ])
  return {
    batch: batchResource(row),
    reasons: [...reasons],
    ...(agent && { agent_name: agent.name }),
    ...(end && { expected_end_at: formatDateTime(end) }),
  }
}

export const listRecipients: ConsoleHandler<'listRecipients'> = async (
  { params },
  { db, organizationId },
) => {
  const row = await findBatch(db, organizationId, params.batch_id, undefined)
  if (!row) throw notFound()
  return { data: await list(db, organizationId, row.id) }
}

export const forecastBatch: ConsoleHandler<'forecastBatch'> = async (
  { params },
  { db, organizationId },
) => {
  const row = await findBatch(db, organizationId, params.batch_id, undefined)
  if (!row) throw notFound()
  return forecast(db, organizationId, row)
}

/** A draft, by the rules of the API. */
export const createBatch: ConsoleHandler<'createBatch'> = async ({ body }, context) => {
  const { db, organizationId, parts } = context
  const row = await draftBatch(db, parts.clock, organizationId, body, 'dashboard', parts.quotas)
  await noteDraft(context, row)
  return batchResource(row)
}

export const retryBatch: ConsoleHandler<'retryBatch'> = async ({ params, body }, context) => {
  const { db, organizationId, parts } = context
  const batch = await findBatch(db, organizationId, params.batch_id, undefined)
  if (!batch) throw notFound()
  const row = await draftRetry(db, parts, organizationId, { batch, ends: body.ends })
  await noteDraft(context, row, { retry_of: batch.id, ends: body.ends })
  return batchResource(row)
}

const noteDraft = (context: Context, row: BatchRow, besides: object = {}): Promise<void> =>
  note(context.db, context, {
    action: 'batch.create',
    target: { type: 'batch', id: row.id },
    after: { agent_id: row.agent_id, recipients: row.total_recipients, ...besides },
  })

export const previewWindow: ConsoleHandler<'previewWindow'> = async (
  { body },
  { db, organizationId, parts },
) => {
  const organization = await findOrganization(db, organizationId)
  if (!organization) throw notFound()
  const { policy } = organization
  const known = await findPhoneNumbers(db, organizationId, body.contact_ids.filter(isUuid))
  if (known.size < body.contact_ids.length) throw notFoundInBody('contact_ids')
  const numbers = [...known.values()]
  if (body.import_id !== undefined) {
    const file = await findImport(db, organizationId, body.import_id)
    if (!file) throw notFoundInBody('import_id')
    for await (const { inputs } of acceptedPortions(db, organizationId, file, true))
      numbers.push(...inputs.map((input) => input.phone_number))
  }
  return {
    time_zone: policy.timeZone,
    zones: preview(numbers, policy, body.calling_window, parts.clock.now()),
  }
}

type Context = Parameters<ConsoleHandler<'startBatch'>>[1]

/** Moves a batch and writes so into the audit log. */
const move = async (
  context: Context,
  batchId: string,
  verb: 'start' | 'pause' | 'cancel',
  work: (tx: Transaction) => Promise<BatchRow>,
): Promise<Batch> => {
  const { db, organizationId } = context
  const before = await findBatch(db, organizationId, batchId, undefined)
  if (!before) throw notFound()
  const row = await work(db)
  await note(db, context, {
    action: `batch.${verb}`,
    target: { type: 'batch', id: row.id },
    before: { status: before.status },
    after: { status: row.status },
  })
  return batchResource(row)
}

export const startBatch: ConsoleHandler<'startBatch'> = ({ params }, context) =>
  move(context, params.batch_id, 'start', (tx) =>
    startBatchById(tx, context.organizationId, params.batch_id, undefined),
  )

export const pauseBatch: ConsoleHandler<'pauseBatch'> = ({ params }, context) =>
  move(context, params.batch_id, 'pause', (tx) =>
    pauseBatchById(tx, context.organizationId, params.batch_id, undefined),
  )

export const cancelBatch: ConsoleHandler<'cancelBatch'> = ({ params }, context) =>
  move(context, params.batch_id, 'cancel', (tx) =>
    cancelBatchById(tx, context.parts.endCall, context.organizationId, params.batch_id, undefined),
  )
