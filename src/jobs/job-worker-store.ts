import { sql, type Queryable } from '../database/database.ts'

/**
 * The pools of job workers that are alive. The pool that runs a job locks it under the pool's id. Pools belong to the
 * installation, not to an organization.
 */

const touchStatement = sql(
  'job-worker-store.touchJobWorkers',
  `insert into job_workers (worker_id)
   select unnest($1::text[])
   on conflict (worker_id) do update set seen_at = now()`,
)

/** Records that these pools are alive now, by the database's clock. */
export const touchJobWorkers = async (db: Queryable, poolIds: readonly string[]): Promise<void> => {
  await db.run(touchStatement, [poolIds])
}

const forgetStatement = sql(
  'job-worker-store.forgetJobWorkers',
  `delete from job_workers where worker_id = any($1::text[])`,
)

/** Deletes pools that have ended; the next rescue frees their jobs. */
export const forgetJobWorkers = async (
  db: Queryable,
  poolIds: readonly string[],
): Promise<void> => {
  await db.run(forgetStatement, [poolIds])
}

// A pool without a row has ended, or it has started since the last heartbeat. The age of its lock shows which.
const rescueStatement = sql(
  'job-worker-store.rescueJobs',
  `with stale as (
     delete from job_workers
      where seen_at < now() - make_interval(secs => $1)
     returning worker_id
   ),
   dead as (
     select distinct locked_by as worker_id
       from graphile_worker.jobs
      where locked_by is not null
        and locked_at < now() - make_interval(secs => $1)
        and not exists (
              select
                from job_workers w
               where w.worker_id = locked_by
                 and w.seen_at >= now() - make_interval(secs => $1))
   )
   select graphile_worker.force_unlock_workers(array_agg(worker_id)) is null as done
     from dead
   having count(*) > 0`,
)

/** Frees the jobs of pools without a heartbeat for `staleSeconds`. True if there were any. */
export const rescueJobs = async (db: Queryable, staleSeconds: number): Promise<boolean> =>
  (await db.row(rescueStatement, [staleSeconds])) !== undefined
