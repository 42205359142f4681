import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { backoffMs } from '../runtime/backoff.ts'
import { silentLogger, type Logger } from '../runtime/logger.ts'
import { findBinaries } from './embedded-binaries.ts'
import { databaseUser, ensureCluster } from './embedded-cluster.ts'
import { prepareFolders, type Folders } from './embedded-folders.ts'
import {
  acquireInstanceLock,
  type GuestTicket,
  type HolderKind,
  type InstanceLock,
} from './embedded-lock.ts'
import {
  endOrphan,
  PostgresStartError,
  startPostgres,
  type PostgresOptions,
  type RunningPostgres,
} from './embedded-process.ts'
import { DatabaseSetupError, toSetupError } from './setup-error.ts'

interface EmbeddedOptions {
  readonly logger?: Logger
  /** Additional settings of postgresql.conf, before ours. */
  readonly settings?: Readonly<Record<string, string>>
  /** Only tests turn it off: without fsync a power cut can destroy the cluster. */
  readonly isDurable?: boolean
  /** For root: the folder of copied binaries and unreachable clusters. */
  readonly stateFolder?: string
}

export interface EmbeddedPostgres {
  /** The connection for `openDatabase`, while it runs. It stays the same over restarts. */
  readonly connection: { host: string; port: number; user: string; database: string }
  /** Whether this process runs it; otherwise another one does, and we are its guest. */
  readonly isOwner: boolean
  /** The owner stops PostgreSQL, a guest only disconnects. Safe twice. */
  stop(): Promise<void>
}

const port = 5432
/** How long a service waits for a command that runs the database briefly. */
const commandPatienceMs = 30_000
/** How long a guest waits for an owner that is still starting; a first start takes a second. */
const ownerPatienceMs = 60_000
/** How long a stopping owner waits for commands that use its database. */
const guestPatienceMs = { service: 2_000, command: 30_000 } as const
const restartBackoff = { baseMs: 50, maxMs: 5_000 }
/** After a crash the last backends still hold the shared memory for a moment. */
const maxStartAttempts = 20

const defaultSettings: Readonly<Record<string, string>> = {
  max_connections: '120',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  // Queue rows are short-lived; statistics and vacuum must not lag.
  autovacuum_naptime: '10s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Clients get their errors themselves; the details are data, which no log may contain.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
}

/**
 * Runs PostgreSQL 18 on `<dataFolder>/postgres` for a service, and restarts it when it dies. Throws
 * `DatabaseSetupError` when another service has the folder (naming its pid), or the folder is unusable.
 */
export const startEmbedded = async (
  dataFolder: string,
  options: EmbeddedOptions = {},
): Promise<EmbeddedPostgres> => {
  const folders = prepareFolders(dataFolder, options.stateFolder)
  const deadlineMs = performance.now() + commandPatienceMs
  for (;;) {
    const attempt = await tryLock(folders, 'service')
    if (attempt.kind === 'held') return own(folders, attempt.lock, 'service', options)
    attempt.ticket.leave()
    if (attempt.ticket.kind === 'service' || performance.now() > deadlineMs)
      throw new DatabaseSetupError(
        `Another instance (process ${attempt.ticket.pid}) is using the data folder ${dataFolder}: ` +
          'stop it first, or set OUTDIAL_DATA to another folder.',
      )
    await sleep(50)
  }
}

/**
 * The database of `dataFolder` for a command: the running instance's if there is one, else our own for the
 * duration. Throws `DatabaseSetupError`.
 */
export const connectOrStartEmbedded = async (
  dataFolder: string,
  options: EmbeddedOptions = {},
): Promise<EmbeddedPostgres> => {
  const folders = prepareFolders(dataFolder, options.stateFolder)
  const deadlineMs = performance.now() + ownerPatienceMs
  for (;;) {
    const attempt = await tryLock(folders, 'command')
    if (attempt.kind === 'held') return own(folders, attempt.lock, 'command', options)
    const state = await probe(folders)
    if (state === 'reachable') return visit(folders, attempt.ticket)
    attempt.ticket.leave()
    // The server runs and refuses every session, so waiting would not help.
    if (state === 'full') throw toSetupError('reach the database', dataFolder, 'ENOSPC')
    if (performance.now() > deadlineMs)
      throw new DatabaseSetupError(
        `The instance that uses ${dataFolder} (process ${attempt.ticket.pid}) does not answer: stop it and try again.`,
      )
    await sleep(50)
  }
}

const tryLock = (folders: Folders, kind: HolderKind) =>
  acquireInstanceLock(folders.sockets, kind).catch((error: unknown) => {
    throw toSetupError('lock the database', folders.sockets, error)
  })

const connectionTo = (folders: Folders): EmbeddedPostgres['connection'] => ({
  host: folders.sockets,
  port,
  user: databaseUser,
  database: 'postgres',
})

/** SQLSTATE of a server without space even for the files of a new session. */
const diskFull = '53100'

const probe = async (folders: Folders): Promise<'reachable' | 'full' | 'silent'> => {
  const client = new pg.Client({ ...connectionTo(folders), connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return 'reachable'
  } catch (error) {
    return (error as { code?: string }).code === diskFull ? 'full' : 'silent'
  }
}

const visit = (folders: Folders, ticket: GuestTicket): EmbeddedPostgres => ({
  connection: connectionTo(folders),
  isOwner: false,
  stop: async () => ticket.leave(),
})

const own = async (
  folders: Folders,
  lock: InstanceLock,
  kind: HolderKind,
  { logger = silentLogger, settings = {}, isDurable = true }: EmbeddedOptions,
): Promise<EmbeddedPostgres> => {
  try {
    const binaries = findBinaries(folders.owner, folders.stage)
    await endOrphan(folders.cluster, logger)
    await ensureCluster(folders, binaries, { isDurable })
    const durability = isDurable ? {} : { fsync: 'off', full_page_writes: 'off' }
    const allSettings = { port: String(port), ...defaultSettings, ...durability, ...settings }
    const stopPostgres = await supervise({ binaries, folders, settings: allSettings, logger })
    const stop = async (): Promise<void> => {
      // The lock is released last: its next holder finds PostgreSQL stopped.
      await lock.release(guestPatienceMs[kind], stopPostgres)
    }
    let stopping: Promise<void> | undefined
    return {
      connection: connectionTo(folders),
      isOwner: true,
      stop: () => (stopping ??= stop()),
    }
  } catch (error) {
    await lock.release(0, async () => {})
    throw toSetupError('start the database', folders.cluster, error)
  }
}

/** Starts PostgreSQL and restarts it after every unrequested end; returns the function that stops it. */
const supervise = async (options: PostgresOptions): Promise<() => Promise<void>> => {
  const { logger, folders } = options
  let running = await startPatiently(options)
  const stopRequest = new AbortController()
  const isStopping = (): boolean => stopRequest.signal.aborted

  const restart = async (): Promise<RunningPostgres | undefined> => {
    for (let attempt = 1; !isStopping(); attempt++) {
      try {
        await endOrphan(folders.cluster, logger)
        return await startPatiently(options)
      } catch (error) {
        logger.error({ err: error, attempt }, 'PostgreSQL does not start again')
        await sleep(backoffMs(attempt, restartBackoff), undefined, {
          signal: stopRequest.signal,
        }).catch(() => {})
      }
    }
    return undefined
  }
  const watch = async (): Promise<void> => {
    for (;;) {
      await running.exited
      if (isStopping()) return
      logger.error({ pid: running.pid }, 'PostgreSQL ended unexpectedly; starting it again')
      const next = await restart()
      if (!next) return
      running = next
      logger.info({ pid: running.pid }, 'PostgreSQL runs again')
      if (isStopping()) return running.stop()
    }
  }
  const watching = watch()
  return async () => {
    stopRequest.abort()
    await running.stop()
    await watching
  }
}

const startPatiently = async (options: PostgresOptions): Promise<RunningPostgres> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startPostgres(options)
    } catch (error) {
      const isTransient =
        error instanceof PostgresStartError && /still in use|already exists/.test(error.message)
      if (!isTransient || attempt >= maxStartAttempts) throw error
      await sleep(backoffMs(attempt, { baseMs: 50, maxMs: 500 }))
    }
  }
}
