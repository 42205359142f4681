import type { CallingWindow } from '../../contract/batches.ts'
import type { BatchStatus } from '../../contract/states.ts'
import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import { newestFirst } from '../../database/newest-first.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'
import { liveStates, statusIn } from '../calls/lifecycle/call-states.ts'
import type { BatchRow } from './batch-resource.ts'

/** A batch's origin. Only `api` batches are visible through the API (D14). */
export type BatchOrigin = 'api' | 'cli' | 'dashboard'

export interface NewBatch {
  readonly id: string
  readonly origin: BatchOrigin
  readonly name: string
  readonly agentId: string
  readonly totalRecipients: number
  /** RFC 3339. */
  readonly scheduledStartAt: string | undefined
  readonly callingWindow: CallingWindow | undefined
  /** The key that asks for it. */
  readonly apiKeyId?: string | undefined
}

const insertStatement = sql(
  'batch-store.insertBatch',
  `insert into batches (organization_id, id, origin, name, agent_id, total_recipients, scheduled_start_at, calling_window,
                        api_key_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
)

/** A draft. */
export const insertBatch = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batch: NewBatch,
): Promise<void> => {
  await tx.run(insertStatement, [
    organizationId,
    batch.id,
    batch.origin,
    batch.name,
    batch.agentId,
    batch.totalRecipients,
    batch.scheduledStartAt ?? null,
    batch.callingWindow === undefined ? null : JSON.stringify(batch.callingWindow),
    batch.apiKeyId ?? null,
  ])
}

// Counted from the calls until the batch has settled, then frozen. The count is a lateral join, so that a page
// counts only the batches it shows; a settled batch, or one that waits for its start, reads no calls.
const countedBatches = `(
     select b.organization_id, b.id, b.origin, b.status, b.name, b.agent_id, b.total_recipients,
            case when b.status in ('draft', 'scheduled') then b.total_recipients else n.pending end
              as pending_recipients,
            n.queued as queued_recipients,
            n.in_progress as in_progress_recipients,
            coalesce(b.completed_recipients, n.completed) as completed_recipients,
            coalesce(b.failed_recipients, n.failed) as failed_recipients,
            coalesce(b.cancelled_recipients, n.cancelled) as cancelled_recipients,
            coalesce(b.answered_recipients, n.answered) as answered_recipients,
            coalesce(b.no_answer_recipients, n.no_answer) as no_answer_recipients,
            coalesce(b.busy_recipients, n.busy) as busy_recipients,
            b.scheduled_start_at, b.calling_window, b.started_at, b.paused_at, b.completed_at, b.cancelled_at,
            b.created_at, b.updated_at
       from batches b
       left join lateral (
         select count(*) filter (where status = 'pending') as pending,
                count(*) filter (where status = 'queued') as queued,
                count(*) filter (where ${statusIn(liveStates)}) as in_progress,
                count(*) filter (where status = 'completed') as completed,
                count(*) filter (where status = 'failed') as failed,
                count(*) filter (where status = 'cancelled') as cancelled,
                count(*) filter (where status = 'completed' and answer_status = 'answered') as answered,
                count(*) filter (where status = 'completed' and answer_status = 'no_answer') as no_answer,
                count(*) filter (where status = 'completed' and answer_status = 'busy') as busy
           from calls c
          where b.settled_at is null
            and b.status not in ('draft', 'scheduled')
            and c.organization_id = b.organization_id
            and c.batch_id = b.id
       ) n on true
   ) as batch`

/** Everything but the id. */
const columns = `status, name, agent_id, total_recipients, pending_recipients, queued_recipients,
       in_progress_recipients, completed_recipients, failed_recipients, cancelled_recipients, answered_recipients,
       no_answer_recipients, busy_recipients, scheduled_start_at, calling_window, started_at, paused_at, completed_at,
       cancelled_at, created_at, updated_at`

const findStatement = sql(
  'batch-store.findBatch',
  `select id, ${columns}
     from ${countedBatches}
    where organization_id = $1
      and id = $2
      and ($3::text is null or origin = $3)`,
)

/** Undefined for an unknown id, one of another organization or origin, and a malformed id. */
export const findBatch = async (
  db: Queryable,
  organizationId: OrganizationId,
  batchId: string,
  origin: BatchOrigin | undefined,
): Promise<BatchRow | undefined> =>
  isUuid(batchId)
    ? db.row<BatchRow>(findStatement, [organizationId, batchId, origin ?? null])
    : undefined

/** Newest first. */
export const listApiBatches = newestFirst<BatchRow, 'status'>({
  name: 'batch-store.listApiBatches',
  columns,
  table: countedBatches,
  sortColumn: 'created_at',
  filters: { status: 'status = ?' },
  ways: [{ where: "origin = 'api'" }],
})

/** Batches that were not made through the API, newest first. */
export const listOwnBatches = newestFirst<BatchRow, 'status'>({
  name: 'batch-store.listOwnBatches',
  columns,
  table: countedBatches,
  sortColumn: 'created_at',
  filters: { status: 'status = ?' },
  // Worded as the index of migrations/0160-own-lists.sql.
  ways: [{ where: "origin <> 'api'" }],
})

const headStatement = sql(
  'batch-store.findBatchHead',
  `select status,
          coalesce(scheduled_start_at > clock_timestamp(), false) as is_ahead
     from batches
    where organization_id = $1
      and id = $2
      and ($3::text is null or origin = $3)`,
)

/** The facts that decide a batch's next move. */
export interface BatchHead {
  readonly status: BatchStatus
  /** Whether `scheduled_start_at` is still in the future. */
  readonly is_ahead: boolean
}

export const findBatchHead = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
  origin: BatchOrigin | undefined,
): Promise<BatchHead | undefined> =>
  isUuid(batchId)
    ? tx.row<BatchHead>(headStatement, [organizationId, batchId, origin ?? null])
    : undefined

const moveStatement = sql(
  'batch-store.moveBatch',
  `update batches
      set status       = $3,
          started_at   = case when $3 = 'in_progress' then coalesce(started_at, now()) else started_at end,
          paused_at    = case when $3 = 'paused' then now()
                              when $3 in ('scheduled', 'queued') then null else paused_at end,
          cancelled_at = case when $3 = 'cancelled' then now() else cancelled_at end,
          updated_at   = now()
    where organization_id = $1
      and id = $2
      and status = any($4)`,
)

/** False: the batch is in none of these states; nothing was changed. */
export const moveBatch = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
  to: Exclude<BatchStatus, 'draft' | 'completed' | 'failed'>,
  from: readonly BatchStatus[],
): Promise<boolean> => (await tx.run(moveStatement, [organizationId, batchId, to, from])) > 0

const lockStatement = sql(
  'batch-store.holdBatchStatus',
  `select status
     from batches
    where organization_id = $1
      and id = $2
      for no key update`,
)

/** The state, fixed until the transaction ends. Locked after calls, never before. */
export const holdBatchStatus = async (
  tx: Transaction,
  organizationId: OrganizationId,
  batchId: string,
): Promise<BatchStatus | undefined> =>
  (await tx.row<{ status: BatchStatus }>(lockStatement, [organizationId, batchId]))?.status
