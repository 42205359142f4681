import { EventEmitter } from 'node:events'
import {
  Logger as WorkerLogger,
  parseCronItems,
  run,
  type CronItem,
  type Runner,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker'
import pg from 'pg'
import type { Database } from '../database/database.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import { forgetJobWorkers, rescueJobs, touchJobWorkers } from './job-worker-store.ts'
import { repeat, systemSleep, type Repeating } from './repeating.ts'

export interface JobRunnerOptions {
  readonly connection: pg.ClientConfig
  readonly database: Database
  readonly tasks: TaskList
  /** Tasks that run by the clock, each once over all nodes. */
  readonly schedule: readonly CronItem[]
  readonly concurrency: number
  readonly logger: Logger
}

/** A job's notification wakes a worker at once; this poll finds those whose time has come. */
const pollIntervalMs = 1_000
const maxConnections = 4
const heartbeatIntervalMs = 5_000
/** A worker that was not seen for this long is dead; a job is far shorter than what a paused process would need. */
const staleSeconds = 30

/**
 * Runs the jobs that follow calls. A job that is interrupted is run again, here or on another node: jobs of a killed
 * process are free again within half a minute, for their workers are seen no more.
 */
export const createJobRunner = (options: JobRunnerOptions): Service => {
  const { database, logger } = options
  const workerIds = new Set<string>()
  let parts: { runner: Runner; pool: pg.Pool; heartbeat: Repeating } | undefined
  let starting: Promise<void> | undefined
  let stopping: Promise<void> | undefined

  const beat = async (): Promise<void> => {
    await touchJobWorkers(database, [...workerIds])
    if (await rescueJobs(database, staleSeconds)) logger.warn({}, 'jobs of a dead node were freed')
  }

  const start = async (): Promise<void> => {
    const pool = openPool(options)
    const events: WorkerEvents = new EventEmitter()
    events.on('worker:create', ({ worker }) => {
      workerIds.add(worker.workerId)
    })
    const runner = await run({
      pgPool: pool,
      taskList: options.tasks,
      parsedCronItems: parseCronItems([...options.schedule]),
      concurrency: options.concurrency,
      pollInterval: pollIntervalMs,
      noHandleSignals: true,
      events,
      logger: workerLogger(logger),
    })
    runner.promise.catch((error: unknown) => logger.error({ err: error }, 'the job runner ended'))
    const heartbeat = repeat({
      name: 'job workers',
      intervalMs: heartbeatIntervalMs,
      work: beat,
      sleep: systemSleep,
      logger,
    })
    parts = { runner, pool, heartbeat }
  }

  const stop = async (): Promise<void> => {
    await starting
    if (!parts) return
    await parts.heartbeat.stop()
    await parts.runner
      .stop()
      .catch((error: unknown) => logger.warn({ err: error }, 'the job runner could not stop'))
    await parts.pool.end()
    // A database that is away finds out by itself: the rows go stale.
    await forgetJobWorkers(database, [...workerIds]).catch(() => undefined)
  }

  return { start: () => (starting ??= start()), stop: () => (stopping ??= stop()) }
}

const openPool = ({ connection, logger }: JobRunnerOptions): pg.Pool => {
  const pool = new pg.Pool({ ...connection, max: maxConnections })
  const onLost = (error: Error): void => logger.warn({ err: error }, 'job connection lost')
  pool.on('error', onLost)
  pool.on('connect', (client) => client.on('error', onLost))
  return pool
}

/** The library's words at our levels; its info is our debug, as each job would be a line. */
const workerLogger = (logger: Logger): WorkerLogger =>
  new WorkerLogger(() => (level, message) => {
    if (level === 'error') logger.error({ detail: message }, 'a job failed')
    else if (level === 'warning') logger.warn({ detail: message }, 'job runner')
    else logger.debug({ detail: message }, 'job runner')
  })
