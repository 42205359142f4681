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
import type { Telemetry } from '../runtime/telemetry.ts'
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
  /** Tasks that run by the clock, each occurrence once over all nodes. */
  readonly schedule: JobSchedule
  /** Jobs at a time in this process; 2 by default. */
  readonly concurrency?: number
  readonly logger: Logger
  readonly telemetry?: Telemetry
}

/** A notification starts a new job at once; the poll finds jobs that are due later. */
const pollIntervalMs = 1_000
const maxConnections = 4
const defaultConcurrency = 2
const heartbeatIntervalMs = 5_000
/** A pool without a heartbeat for this long counts as dead. Jobs are far shorter. */
const staleSeconds = 30
const restartBackoff = { baseMs: 200, maxMs: 5_000 }

/**
 * Without batching the library leaves a rejection unhandled when the database connection breaks at the end of a job, and
 * the process ends. With batching, even with a delay of 0, it ends its pool, and we start another one.
 */
const batching = { completeJobBatchDelay: 0, failJobBatchDelay: 0 } as const

/**
 * Runs the jobs that follow calls. An interrupted job runs again, here or on another node: the jobs of a killed process are
 * free after 30 s without a heartbeat. The runner survives any outage of the database.
 */
export class JobRunner implements Service {
  readonly #options: JobRunnerOptions
  /** The ids under which the pools of this process lock their jobs. */
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
    // It rejects if the runner has already ended.
    await this.#current?.stop().catch(() => undefined)
    await running
    await pool.end()
    // Without a database the rows become stale, which has the same effect.
    await forgetJobWorkers(this.#options.database, [...this.#poolIds]).catch(() => undefined)
  }

  /** Sends the heartbeat of this process, and frees the jobs of dead ones. */
  async #beat(): Promise<void> {
    const { database, logger } = this.#options
    await touchJobWorkers(database, [...this.#poolIds])
    if (await rescueJobs(database, staleSeconds)) logger.warn({}, 'jobs of a dead node were freed')
  }

  /** Starts the library's runner. `over` resolves when that runner has ended. */
  async #startRunner(pgPool: pg.Pool): Promise<{ readonly over: Promise<void> }> {
    const { tasks, schedule, concurrency = defaultConcurrency, logger } = this.#options
    const ownIds: string[] = []
    const events: WorkerEvents = new EventEmitter()
    events.on('pool:create', ({ workerPool }) => {
      ownIds.push(workerPool.id)
      this.#poolIds.add(workerPool.id)
    })
    const count = (result: string) => () =>
      this.#options.telemetry?.count('outdial_jobs_total', { result })
    events.on('job:success', count('done'))
    events.on('job:error', count('failed'))
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

  /** The next heartbeat of any node frees the jobs that these pools still hold. */
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

/** Maps the library's levels to ours: its info becomes debug, because it logs every job. */
const workerLogger = (logger: Logger): WorkerLogger =>
  new WorkerLogger(() => (level, message) => {
    if (level === 'error') logger.error({ detail: message }, 'a job failed')
    else if (level === 'warning') logger.warn({ detail: message }, 'job runner')
    else logger.debug({ detail: message }, 'job runner')
  })
