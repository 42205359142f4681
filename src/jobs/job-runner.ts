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
import { backoffMs } from '../runtime/backoff.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Service } from '../runtime/service.ts'
import { forgetJobWorkers, rescueJobs, touchJobWorkers } from './job-worker-store.ts'
import { repeat, type Repeating } from '../runtime/repeating.ts'
import { systemTime } from '../runtime/time.ts'

/** The functions that run jobs, by task. */
export type JobTasks = TaskList
export type JobSchedule = readonly CronItem[]

interface JobRunnerOptions {
  readonly connection: pg.ClientConfig
  readonly database: Database
  readonly tasks: JobTasks
  /** Tasks that run by the clock, each once over all nodes. */
  readonly schedule: JobSchedule
  /** Jobs at a time in this process; 2. */
  readonly concurrency?: number
  readonly logger: Logger
}

/** A job's notification wakes a worker at once; this poll finds those whose time has come. */
const pollIntervalMs = 1_000
const maxConnections = 4
const defaultConcurrency = 2
const heartbeatIntervalMs = 5_000
/** A pool that was not seen for this long is dead; a job is far shorter than what a paused process would need. */
const staleSeconds = 30
const restartBackoff = { baseMs: 200, maxMs: 5_000 }

/**
 * The library lets the whole process die of a rejection nobody handles when the database goes away in the very moment
 * a job ends. With batches, of however short a wait, it ends its pool instead, and we start another.
 */
const batching = { completeJobBatchDelay: 0, failJobBatchDelay: 0 } as const

/**
 * Runs the jobs that follow calls. A job that is interrupted is run again, here or on another node: jobs of a killed
 * process are free again within half a minute, for its pool is seen no more. Outlives any outage of the database.
 */
export class JobRunner implements Service {
  readonly #options: JobRunnerOptions
  /** The pools of this process, by the name under which they lock their jobs. */
  readonly #poolIds = new Set<string>()
  readonly #stopped = new AbortController()
  #parts: { running: Promise<void>; pool: pg.Pool; heartbeat: Repeating } | undefined
  #current: Runner | undefined
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined

  constructor(options: JobRunnerOptions) {
    this.#options = options
  }

  start(): Promise<void> {
    return (this.#starting ??= this.#start())
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop())
  }

  async #start(): Promise<void> {
    const pool = openPool(this.#options)
    const { over } = await this.#startRunner(pool)
    const heartbeat = repeat({
      name: 'job workers',
      intervalMs: heartbeatIntervalMs,
      work: () => this.#beat(),
      time: systemTime,
      logger: this.#options.logger,
    })
    this.#parts = { running: this.#keepRunning(pool, over), pool, heartbeat }
  }

  async #stop(): Promise<void> {
    await this.#starting
    if (!this.#parts) return
    const { running, pool, heartbeat } = this.#parts
    await heartbeat.stop()
    this.#stopped.abort()
    // Rejects where it has ended by itself.
    await this.#current?.stop().catch(() => undefined)
    await running
    await pool.end()
    // A database that is away finds out by itself: the rows go stale.
    await forgetJobWorkers(this.#options.database, [...this.#poolIds]).catch(() => undefined)
  }

  /** Tells the database that this process lives, and frees the jobs of those that do not. */
  async #beat(): Promise<void> {
    const { database, logger } = this.#options
    await touchJobWorkers(database, [...this.#poolIds])
    if (await rescueJobs(database, staleSeconds)) logger.warn({}, 'jobs of a dead node were freed')
  }

  /** One life of the library's runner; resolves with when it is over. */
  async #startRunner(pgPool: pg.Pool): Promise<{ readonly over: Promise<void> }> {
    const { tasks, schedule, concurrency = defaultConcurrency, logger } = this.#options
    const ownIds: string[] = []
    const events: WorkerEvents = new EventEmitter()
    events.on('pool:create', ({ workerPool }) => {
      ownIds.push(workerPool.id)
      this.#poolIds.add(workerPool.id)
    })
    this.#current = await run({
      pgPool,
      taskList: tasks,
      parsedCronItems: parseCronItems([...schedule]),
      concurrency,
      pollInterval: pollIntervalMs,
      noHandleSignals: true,
      preset: { worker: batching },
      events,
      logger: workerLogger(logger),
    })
    const over = this.#current.promise
      .catch((error: unknown) => logger.warn({ err: error }, 'the job runner broke'))
      .finally(() => this.#forget(ownIds))
    return { over }
  }

  /** What these pools could not give back is free at the next heartbeat, of whichever node. */
  #forget(poolIds: readonly string[]): void {
    for (const id of poolIds) this.#poolIds.delete(id)
    forgetJobWorkers(this.#options.database, poolIds).catch(() => undefined)
  }

  async #keepRunning(pgPool: pg.Pool, first: Promise<void>): Promise<void> {
    const { logger } = this.#options
    const { signal } = this.#stopped
    await first
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      logger.warn({ attempt }, 'the job runner ended, and is started again')
      await systemTime.sleep(backoffMs(attempt, restartBackoff), signal)
      if (signal.aborted) return
      try {
        const { over } = await this.#startRunner(pgPool)
        attempt = 0
        if (signal.aborted) await this.#current?.stop().catch(() => undefined)
        await over
      } catch (error) {
        logger.warn({ err: error }, 'the job runner could not start')
      }
    }
  }
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
