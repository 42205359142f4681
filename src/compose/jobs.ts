import { Logger as WorkerLogger, run, type Runner, type TaskList } from 'graphile-worker'
import pg from 'pg'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'

export interface JobRunnerOptions {
  readonly connection: pg.ClientConfig
  readonly tasks: TaskList
  readonly concurrency: number
  readonly logger: Logger
}

/** Wakes for a job at once; this poll finds those whose notification was lost and those whose time has come. */
const pollIntervalMs = 1_000
const maxConnections = 4

/** Runs the jobs that follow calls. A job that is interrupted is run again, here or on another node. */
export const createJobRunner = (options: JobRunnerOptions): Service => {
  let runner: Runner | undefined
  let pool: pg.Pool | undefined
  let stopping: Promise<void> | undefined
  const start = async (): Promise<void> => {
    pool = new pg.Pool({ ...options.connection, max: maxConnections })
    const onLost = (error: Error) => options.logger.warn({ err: error }, 'job connection lost')
    pool.on('error', onLost)
    pool.on('connect', (client) => client.on('error', onLost))
    runner = await run({
      pgPool: pool,
      taskList: options.tasks,
      concurrency: options.concurrency,
      pollInterval: pollIntervalMs,
      noHandleSignals: true,
      logger: workerLogger(options.logger),
    })
    runner.promise.catch((error: unknown) =>
      options.logger.error({ err: error }, 'the job runner ended'),
    )
  }
  const stop = async (): Promise<void> => {
    await runner
      ?.stop()
      .catch((error: unknown) =>
        options.logger.warn({ err: error }, 'the job runner could not stop'),
      )
    await pool?.end()
  }
  return { start, stop: () => (stopping ??= stop()) }
}

/** The library's words at our levels; its info is our debug, as each job would be a line. */
const workerLogger = (logger: Logger): WorkerLogger =>
  new WorkerLogger(() => (level, message, meta) => {
    const fields = { job: meta?.['job'] === undefined ? undefined : 'yes' }
    if (level === 'error') logger.error({ ...fields, detail: message }, 'a job failed')
    else if (level === 'warning') logger.warn({ ...fields, detail: message }, 'job runner')
    else logger.debug({ ...fields, detail: message }, 'job runner')
  })
