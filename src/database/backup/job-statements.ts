/**
 * Background jobs in a backup: all that are still to run, also those in progress. The format is that of
 * graphile-worker's version in package.json; its tables are not ours, so a restore adds jobs by its function.
 */

export const jobColumns = [
  'identifier',
  'payload',
  'queue_name',
  'run_at',
  'max_attempts',
  'job_key',
  'priority',
  'flags',
] as const

export const selectJobs = `
  select t.identifier, j.payload, q.queue_name, j.run_at, j.max_attempts, j.key, j.priority,
         array(select jsonb_object_keys(j.flags)) as flags
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
    left join graphile_worker._private_job_queues q on q.id = j.job_queue_id
   where j.attempts < j.max_attempts
   order by j.id`

export const createJobTable = `
  create temporary table restored_jobs (
    position bigint generated always as identity, identifier text, payload json, queue_name text, run_at timestamptz,
    max_attempts integer, job_key text, priority integer, flags text[]
  ) on commit drop`

export const selectRestoredTasks = `select distinct identifier as task from restored_jobs`

export const renameRestoredTask = `update restored_jobs set identifier = $2 where identifier = $1`

export const addRestoredJobs = `
  select graphile_worker.add_job(identifier, payload, queue_name, run_at, max_attempts, job_key, priority,
                                 nullif(flags, '{}'))
    from restored_jobs
   order by position`
