import { notFound } from '../../contract/api-error.ts'
import type { Batch } from '../../contract/batches.ts'
import type { Transaction } from '../../database/database.ts'
import { newestOf } from '../../database/newest-first.ts'
import { batchResource, type BatchRow } from '../../domains/batches/batch-resource.ts'
import { findBatch, listApiBatches, listOwnBatches } from '../../domains/batches/batch-store.ts'
import { cancelBatchById } from '../../domains/batches/cancel-batch.ts'
import { explainBatch } from '../../domains/batches/get-batch-explanation.ts'
import { listRecipients as list } from '../../domains/batches/list-recipients.ts'
import { pauseBatchById } from '../../domains/batches/pause-batch.ts'
import { startBatchById } from '../../domains/batches/start-batch.ts'
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

export const getBatch: ConsoleHandler<'getBatch'> = async ({ params }, { db, organizationId }) => {
  const row = await findBatch(db, organizationId, params.batch_id, undefined)
  if (!row) throw notFound()
  const reasons = await explainBatch(db, organizationId, row)
  return { batch: batchResource(row), reasons: [...reasons] }
}

export const listRecipients: ConsoleHandler<'listRecipients'> = async (
  { params },
  { db, organizationId },
) => {
  const row = await findBatch(db, organizationId, params.batch_id, undefined)
  if (!row) throw notFound()
  return { data: await list(db, organizationId, row.id) }
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
