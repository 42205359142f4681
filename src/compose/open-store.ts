import { join } from 'node:path'
import type { Database } from '../database/database.ts'
import {
  connectOrStartEmbedded,
  startEmbedded,
  type EmbeddedPostgres,
} from '../database/embedded-postgres.ts'
import { listPendingMigrations, migrate } from '../database/migrate.ts'
import { openDatabase } from '../database/open-database.ts'
import { DatabaseSetupError } from '../database/setup-error.ts'
import type { Logger } from '../runtime/logger.ts'

/** Where the installation's data is: DATABASE_URL, or the embedded PostgreSQL under the data folder. */
export interface StoreLocation {
  readonly databaseUrl: string | undefined
  readonly dataFolder: string
}

export interface Store {
  readonly database: Database
  /** The names of the migrations the database still lacks. */
  pendingMigrations(): Promise<string[]>
  readonly connection: { connectionString: string } | EmbeddedPostgres['connection']
  stop(): Promise<void>
}

const migrationsFolder = join(import.meta.dirname, '../../migrations')

/**
 * Opens the store and migrates it. `service` runs the embedded database; `command` is a guest of a running service, or
 * runs it for the moment. Throws `DatabaseSetupError` with a sentence and its remedy.
 */
export const openStore = async (
  { databaseUrl, dataFolder }: StoreLocation,
  purpose: 'service' | 'command',
  logger: Logger,
): Promise<Store> => {
  const embedded =
    databaseUrl === undefined
      ? await (purpose === 'service' ? startEmbedded : connectOrStartEmbedded)(dataFolder, {
          logger,
        })
      : undefined
  const connection = embedded?.connection ?? { connectionString: databaseUrl ?? '' }
  const place = { connection, folder: migrationsFolder }
  try {
    await migrate({ ...place, logger })
  } catch (error) {
    await embedded?.stop()
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
    pendingMigrations: () => listPendingMigrations(place),
    stop: async () => {
      await database.stop()
      await embedded?.stop()
    },
  }
}

const unreachable = (databaseUrl: string, error: unknown): unknown => {
  const { code, message } = error as { code?: string; message?: string }
  if (error instanceof DatabaseSetupError) return error
  const { host } = new URL(databaseUrl)
  return new DatabaseSetupError(
    `The database at ${host} cannot be used: ${message || code || 'no answer'}. Check DATABASE_URL and that PostgreSQL accepts connections there.`,
    { cause: error },
  )
}
