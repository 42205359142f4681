import { sql, type Transaction } from '../database/database.ts'

/** A job that runs once the transaction that causes it has committed. */
export interface Job {
  /** Names the function that runs it, and the node where only one can. */
  readonly task: string
  /** There is one job of a key, however often its cause is repeated. */
  readonly key: string
  /** Becomes JSON. */
  readonly payload: object
  /** Retries come with growing pauses. */
  readonly maxAttempts: number
}

const addStatement = sql(
  'enqueue-job.add',
  `select graphile_worker.add_job($1, $2::json, job_key := $3, max_attempts := $4) is not null as added`,
)

/** Adds the job, or replaces the waiting one of its key. */
export const enqueueJob = async (tx: Transaction, job: Job): Promise<void> => {
  await tx.row(addStatement, valuesOf(job))
}

// A job that runs keeps its name: whoever runs it has what it needs, or finds out that it has not.
const claimStatement = sql(
  'enqueue-job.claim',
  `select graphile_worker.add_job($1, $2::json, job_key := $3, max_attempts := $4) is not null as added
    where not exists (select from graphile_worker.jobs
                       where key = $3 and (task_identifier = $1 or locked_at is not null))`,
)

/** Gives the job of this key to this task, whichever task it had. False: it has this task already, or is being run. */
export const claimJob = async (tx: Transaction, job: Job): Promise<boolean> =>
  (await tx.rows(claimStatement, valuesOf(job))).length > 0

const valuesOf = ({ task, payload, key, maxAttempts }: Job) => [
  task,
  JSON.stringify(payload),
  key,
  maxAttempts,
]
