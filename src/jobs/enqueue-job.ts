import { sql, type Transaction } from '../database/database.ts'

/** A job. It runs after its transaction has committed. */
export interface Job {
  /** The name of the function that runs it. A task of one node carries the node's name. */
  readonly task: string
  /** Unique: a second job with the same key replaces the first. */
  readonly key: string
  /** Stored as JSON. */
  readonly payload: object
  /** The pauses between attempts grow. */
  readonly maxAttempts: number
}

const addStatement = sql(
  'enqueue-job.add',
  `select graphile_worker.add_job($1, $2::json, job_key := $3, max_attempts := $4) is not null as added`,
)

/** Adds the job, or replaces the waiting job with the same key. */
export const enqueueJob = async (tx: Transaction, job: Job): Promise<void> => {
  await tx.row(addStatement, valuesOf(job))
}

// A running job keeps its task: its worker has what the job needs, or fails without it.
const claimStatement = sql(
  'enqueue-job.claim',
  `select graphile_worker.add_job($1, $2::json, job_key := $3, max_attempts := $4) is not null as added
    where not exists (select from graphile_worker.jobs
                       where key = $3 and (task_identifier = $1 or locked_at is not null))`,
)

/** Changes the task of the waiting job with this key. False: it has this task already, or it is running. */
export const claimJob = async (tx: Transaction, job: Job): Promise<boolean> =>
  (await tx.rows(claimStatement, valuesOf(job))).length > 0

const valuesOf = ({ task, payload, key, maxAttempts }: Job) => [
  task,
  JSON.stringify(payload),
  key,
  maxAttempts,
]
