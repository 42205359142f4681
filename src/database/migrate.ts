import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Logger } from '../runtime/logger.ts'
import { sql, type Queryable } from './database.ts'
import { spoilsConnection } from './errors.ts'
import { DatabaseSetupError } from './setup-error.ts'

interface MigrateOptions {
  readonly connection: pg.ClientConfig
  /** The folder with NNNN-name.sql files. */
  readonly folder: string
  /** The last one to apply; all by default. For a backup from an older level. */
  readonly through?: string
  /** For a guest of a running service, whose start has migrated graphile-worker's schema. */
  readonly isGuest?: boolean
  readonly logger: Logger
}

/** How long one program waits for another that migrates. */
const migrationLockTimeout = '120s'
/** A migration that waits longer for a table would block the running system behind it. */
const tableLockTimeout = '10s'
/** A server that accepts connections and sends nothing is unusable. */
const connectTimeoutMs = 10_000
/** Any fixed number: every migration of an Outdial database takes this advisory lock. */
const migrationLockKey = 7_065_483_441

interface Migration {
  readonly name: string
  readonly text: string
  readonly checksum: string
}

interface Applied {
  readonly name: string
  readonly checksum: string
}

/**
 * Migrates the database to this program's level: graphile-worker's schema, then each missing migration, in order,
 * each in its own transaction, under a lock. Returns the names of those it applied. Throws `DatabaseSetupError`
 * when the database is newer than the program or an applied file was edited.
 */
export const migrate = async (options: MigrateOptions): Promise<string[]> => {
  const migrations = await readMigrations(options.folder)
  return withClient(options.connection, async (client) => {
    await client.query(`set lock_timeout = '${migrationLockTimeout}'`)
    await client.query('select pg_advisory_lock($1)', [migrationLockKey])
    await client.query(`set lock_timeout = '${tableLockTimeout}'`)
    const missing = findPending(migrations, await readApplied(client))
    const pending = missing.filter(({ name }) => name <= (options.through ?? name))
    if (pending.length > 0 || options.isGuest !== true || !(await hasWorkerSchema(client)))
      await migrateWorker(options)
    await client.query(createTable)
    for (const migration of pending) await apply(client, migration)
    const names = pending.map(({ name }) => name)
    if (names.length > 0)
      options.logger.info(
        { applied: names.length, through: names.at(-1) },
        'the database is migrated',
      )
    return names
  })
}

/**
 * The migrations that the database still lacks: none means that it is ready. Throws as `migrate` does; changes
 * nothing, and opens no connection of its own.
 */
export const listPendingMigrations = async (db: Queryable, folder: string): Promise<string[]> => {
  const migrations = await readMigrations(folder)
  const found = await db.row<FoundTable>(tableStatement, [])
  const applied = found?.table ? await db.rows<Applied>(appliedStatement, []) : []
  return findPending(migrations, applied).map(({ name }) => name)
}

/** The program's migrations in order, with the checksum of each file. */
export const listMigrations = async (folder: string): Promise<Applied[]> =>
  (await readMigrations(folder)).map(({ name, checksum }) => ({ name, checksum }))

/** The applied migrations, in order; none without a schema. */
export const listAppliedMigrations = (connection: pg.ClientConfig): Promise<Applied[]> =>
  withClient(connection, readApplied)

/** The connection's end also frees the advisory lock. */
const withClient = async <T>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({
    application_name: 'outdial migrate',
    connectionTimeoutMillis: connectTimeoutMs,
    ...connection,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

const fileName = /^\d{4}-[a-z0-9]+(-[a-z0-9]+)*\.sql$/

const readMigrations = async (folder: string): Promise<Migration[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  names.forEach((name, index) => {
    if (!fileName.test(name))
      throw new DatabaseSetupError(`The migration ${name} must be named like 0001-some-words.sql.`)
    if (names[index - 1]?.slice(0, 4) === name.slice(0, 4))
      throw new DatabaseSetupError(`The migrations ${names[index - 1]} and ${name} share a number.`)
  })
  return Promise.all(names.map((name) => readMigration(folder, name)))
}

const readMigration = async (folder: string, name: string): Promise<Migration> => {
  const text = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n')
  return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
}

const createTable = `
  create table if not exists schema_migrations (
    name       text primary key,
    checksum   text not null,
    applied_at timestamptz not null default now()
  )`

interface FoundTable {
  readonly table: string | null
}

const tableStatement = sql(
  'migrate.findTable',
  `select to_regclass('schema_migrations')::text as table`,
)
const appliedStatement = sql(
  'migrate.listApplied',
  'select name, checksum from schema_migrations order by name',
)

const readApplied = async (client: pg.Client): Promise<Applied[]> => {
  const found = await client.query<FoundTable>(tableStatement.text)
  if (!found.rows[0]?.table) return []
  return (await client.query<Applied>(appliedStatement.text)).rows
}

const findPending = (migrations: readonly Migration[], applied: readonly Applied[]) => {
  const byName = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { name, checksum } of applied) refuseUnlessSame(byName.get(name), name, checksum)
  const pending = migrations.slice(applied.length)
  const last = applied.at(-1)?.name ?? ''
  const late = migrations.find(({ name }) => name < last && !applied.some((a) => a.name === name))
  if (late)
    throw new DatabaseSetupError(
      `The migration ${late.name} comes before ${last}, which is applied already: give it a higher number.`,
    )
  return pending
}

const refuseUnlessSame = (
  migration: Migration | undefined,
  name: string,
  checksum: string,
): void => {
  if (!migration)
    throw new DatabaseSetupError(
      `The database is newer than this version of Outdial, which does not know the migration ${name}: ` +
        'start the version that applied it, or restore a backup made before.',
    )
  if (migration.checksum !== checksum)
    throw new DatabaseSetupError(
      `The migration ${name} was edited after this database applied it: restore the file, ` +
        'and put the change into a new migration.',
    )
}

const apply = async (client: pg.Client, { name, text, checksum }: Migration): Promise<void> => {
  await client.query('begin')
  try {
    await client.query(text)
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [
      name,
      checksum,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    const message = error instanceof Error ? error.message : String(error)
    if (spoilsConnection(error))
      throw new DatabaseSetupError(
        `The database went away during the migration ${name} (${message}): start again when it answers.`,
        { cause: error },
      )
    throw new DatabaseSetupError(
      `The migration ${name} failed and was rolled back: ${message}${lineOf(error, text)}.`,
      { cause: error },
    )
  }
}

/** The line of the file at which the server stopped, if it reports one. */
const lineOf = (error: unknown, text: string): string => {
  const position = error instanceof pg.DatabaseError ? Number(error.position) : Number.NaN
  return Number.isInteger(position)
    ? ` (line ${text.slice(0, position - 1).split('\n').length})`
    : ''
}

const hasWorkerSchema = async (client: pg.Client): Promise<boolean> => {
  const { rows } = await client.query<{ table: string | null }>(
    `select to_regclass('graphile_worker.migrations')::text as table`,
  )
  return rows[0]?.table !== null
}

const migrateWorker = async ({ connection, logger }: MigrateOptions): Promise<void> => {
  // Most commands never need it, and loading it takes as long as running them.
  const { Logger: WorkerLogger, runMigrations } = await import('graphile-worker')
  const pgPool = new pg.Pool({
    connectionTimeoutMillis: connectTimeoutMs,
    ...connection,
    max: 1,
  })
  pgPool.on('error', () => {})
  pgPool.on('connect', (client) => client.on('error', () => {}))
  const workerLogger = new WorkerLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning')
      logger.warn({ worker: message }, 'graphile-worker')
  })
  try {
    await runMigrations({ pgPool, logger: workerLogger })
  } finally {
    await pgPool.end()
  }
}
