import { sql, type Database, type Queryable, type Transaction } from '../../database/database.ts'
import { lockDispatch } from '../calls/lane-store.ts'
import { cancelUndialled } from '../calls/lifecycle/cancel-undialled-calls.ts'
import type { EndCall } from '../calls/lifecycle/end-call.ts'
import { findBatchHead } from './batch-store.ts'
import { releaseBatch } from './start-batch.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** Batches handled in one turn; the next turn takes the rest. */
const maxBatchesPerTurn = 50

interface BatchKey {
  readonly organization_id: OrganizationId
  readonly id: string
}

const dueStatement = sql(
  'due-batches.findDue',
  `select organization_id, id
     from batches
    where status = 'scheduled'
      and scheduled_start_at <= clock_timestamp()
    order by scheduled_start_at
    limit $1`,
)

/** `scheduled` → `queued` when its time has come (D5). Any number of nodes may do this at once. */
export const releaseDueBatches = (db: Database): Promise<void> =>
  forEachBatch(db, dueStatement, async (tx, organizationId, id) => {
    const [, head] = await Promise.all([
      lockDispatch(tx, organizationId),
      findBatchHead(tx, organizationId, id, undefined),
    ])
    // Otherwise another node has paused, cancelled or released it meanwhile.
    if (head?.status === 'scheduled') {
      await releaseBatch(tx, organizationId, id, ['scheduled'])
    }
  })

const leftoverStatement = sql(
  'due-batches.findLeftovers',
  `select b.organization_id, b.id
     from batches b
    -- One look for each, instead of all batches of the queue at once.
    cross join lateral (
      select
        from calls c
       where c.organization_id = b.organization_id
         and c.batch_id = b.id
         and c.status = 'queued'
       limit 1
    ) leftover
    where b.status = 'cancelled'
      and b.settled_at is null
    order by b.cancelled_at
    limit $1`,
)

/**
 * A call that was live when its batch was cancelled may come back to the queue from a congested carrier: it is cancelled
 * there, for its lane never opens again.
 */
export const cancelDueLeftovers = (db: Database, endCall: EndCall): Promise<void> =>
  forEachBatch(db, leftoverStatement, async (tx, organizationId, id) => {
    await lockDispatch(tx, organizationId)
    await endCall(tx, cancelUndialled(organizationId, id))
  })

/** One transaction per batch: a failing one must not block the others. */
const forEachBatch = async (
  db: Database,
  statement: typeof dueStatement,
  move: (tx: Transaction, organizationId: OrganizationId, batchId: string) => Promise<void>,
): Promise<void> => {
  const errors: unknown[] = []
  for (const batch of await db.rows<BatchKey>(statement, [maxBatchesPerTurn])) {
    try {
      await db.transaction((tx) => move(tx, batch.organization_id, batch.id))
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'batches could not be moved')
}

const nextStatement = sql(
  'due-batches.nextInMs',
  `select extract(epoch from min(scheduled_start_at) - clock_timestamp())::double precision * 1000 as next_in_ms
     from batches
    where status = 'scheduled'`,
)

/** Milliseconds until a scheduled batch becomes due; undefined if none is scheduled. */
export const nextBatchInMs = async (db: Queryable): Promise<number | undefined> => {
  const row = await db.row<{ next_in_ms: number | null }>(nextStatement, [])
  return row?.next_in_ms ?? undefined
}
