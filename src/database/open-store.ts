import { join } from 'node:path'
import pg from 'pg'
import type { Database } from './database.ts'
import { hasCluster } from './embedded-folders.ts'
import {
  connectOrStartEmbedded,
  startEmbedded,
  type EmbeddedPostgres,
} from './embedded-postgres.ts'
import { listAppliedMigrations, listPendingMigrations, migrate } from './migrate.ts'
import { openDatabase } from './open-database.ts'
import { DatabaseSetupError, NoInstallationError } from './setup-error.ts'
import type { Logger } from '../runtime/logger.ts'
import { programPath } from '../runtime/program-path.ts'

/** The place of the installation's data: DATABASE_URL, or the embedded PostgreSQL in the data folder. */
interface StoreLocation {
  readonly databaseUrl: string | undefined
  readonly dataFolder: string
}

export interface Store {
  readonly database: Database
  /** The names of migrations that are not applied yet. */
  pendingMigrations(): Promise<string[]>
  readonly connection: { connectionString: string } | EmbeddedPostgres['connection']
  stop(): Promise<void>
}

export const migrationsFolder = join(import.meta.dirname, '../../migrations')

interface StoreConnection {
  readonly connection: Store['connection']
  stop(): Promise<void>
}

/** Starts or finds the database server. Neither migrates nor opens a pool. */
export const openConnection = async (
  { databaseUrl, dataFolder }: StoreLocation,
  purpose: 'service' | 'command',
  logger: Logger,
): Promise<StoreConnection> => {
  if (databaseUrl !== undefined)
    return { connection: { connectionString: databaseUrl }, stop: async () => undefined }
  const start = purpose === 'service' ? startEmbedded : connectOrStartEmbedded
  return start(dataFolder, { logger })
}

/** Throws `NoInstallationError` if there is no installation: a command that reads must not create one. */
export const requireInstallation = async (location: StoreLocation): Promise<void> => {
  const { databaseUrl, dataFolder } = location
  if (databaseUrl === undefined) {
    if (hasCluster(dataFolder)) return
    throw new NoInstallationError(
      `There is no installation in ${dataFolder}: make one there with \`${programPath()} start\`, or set OUTDIAL_DATA (or run the command in another folder) to use one that exists.`,
    )
  }
  const connection = { connectionString: databaseUrl }
  const applied = await listAppliedMigrations(connection).catch((error: unknown) => {
    throw unreachable(databaseUrl, error)
  })
  if (applied.length === 0)
    throw new NoInstallationError(
      `The database of DATABASE_URL holds no installation: make one there with \`${programPath()} start\`, or set DATABASE_URL to one that exists.`,
    )
}

/**
 * Opens the store and migrates it. A `service` runs the embedded database. A `command` connects to that of a running
 * service, or runs it until the command ends. Throws `DatabaseSetupError` with a sentence and its remedy.
 */
export const openStore = async (
  location: StoreLocation,
  purpose: 'service' | 'command',
  logger: Logger,
): Promise<Store> => {
  const { databaseUrl } = location
  const opened = await openConnection(location, purpose, logger)
  const { connection } = opened
  const place = { connection, folder: migrationsFolder }
  try {
    await migrate({ ...place, logger, isGuest: purpose === 'command' })
  } catch (error) {
    await opened.stop()
    throw databaseUrl === undefined ? error : unreachable(databaseUrl, error)
  }
  const database = openDatabase({
    connection,
    logger,
    ...(purpose === 'command' && { maxConnections: 4 }),
  })
  return {
    database,
    connection,
    pendingMigrations: () => listPendingMigrations(database, migrationsFolder),
    stop: async () => {
      await database.stop()
      await opened.stop()
    },
  }
}

const connectLimitMs = 10_000

/** Throws `DatabaseSetupError` if the server of `DATABASE_URL` refuses the connection. */
export const requireDatabase = async (databaseUrl: string): Promise<void> => {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectLimitMs,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    throw unreachable(databaseUrl, error)
  }
  await client.end()
}

const unreachable = (databaseUrl: string, error: unknown): unknown => {
  const { code, message } = error as { code?: string; message?: string }
  if (error instanceof DatabaseSetupError) return error
  const { host } = new URL(databaseUrl)
  const reason = message === 'timeout expired' ? 'it does not answer' : message || code
  return new DatabaseSetupError(
    `The database at ${host} cannot be used: ${reason ?? 'no reason given'}. Check DATABASE_URL and that PostgreSQL accepts connections there.`,
    { cause: error },
  )
}
