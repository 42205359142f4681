import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { Queryable } from '../database.ts'
import { listAppliedMigrations } from '../migrate.ts'
import { queryableOver } from '../transaction.ts'
import type { ArchiveFigures, Manifest } from './archive-format.ts'
import { createArchiveWriter, type ArchiveWriter } from './archive-writer.ts'
import { jobColumns, selectJobs } from './job-statements.ts'
import { listTables } from './table-order.ts'

/** An object of another storage that goes into the backup. */
export interface BackupObject {
  readonly key: string
  readonly bytes: Uint8Array
}

interface BackUpOptions {
  readonly connection: pg.ClientConfig
  readonly path: string
  readonly now: Date
  /** Objects named by the snapshot's rows. */
  readonly listObjects: (snapshot: Queryable) => AsyncIterable<BackupObject>
}

export interface BackupReport extends ArchiveFigures {
  readonly bytes: number
  readonly migrations: string
}

/** There is nothing to back up. The message is a sentence for the operator. */
class BackupRefusedError extends Error {
  override readonly name = 'BackupRefusedError'
}

/** Belongs to the schema, which a restore creates by migrations. */
export const tablesOfSchema = ['schema_migrations']

/** How long a backup may wait for a table that a migration holds. */
const lockTimeout = '30s'

/**
 * Writes a snapshot of the database, and the objects that its rows name, to a file, while the service runs. Leaves
 * no file when it fails. Throws `BackupRefusedError`.
 */
export const backUp = async (options: BackUpOptions): Promise<BackupReport> => {
  if ((await listAppliedMigrations(options.connection)).length === 0)
    throw new BackupRefusedError(
      'This database holds nothing of Outdial, so there is nothing to back up: check OUTDIAL_DATA and DATABASE_URL.',
    )
  const client = new pg.Client({ application_name: 'outdial backup', ...options.connection })
  client.on('error', () => {})
  const writer = createArchiveWriter(options.path)
  try {
    await client.connect()
    await beginSnapshot(client)
    const manifest = await readManifest(client, options.now)
    await writer.write('M', manifest)
    const figures = {
      tables: await writeTables(client, writer),
      jobs: await writeJobs(client, writer),
      objects: await writeObjects(client, writer, options),
    }
    const bytes = await writer.finish(figures)
    return { bytes, migrations: manifest.migrations.at(-1)?.name ?? 'none', ...figures }
  } finally {
    await writer.abandon()
    await client.end()
  }
}

/** COPY's text format depends on these; a reader sets none. */
const beginSnapshot = async (client: pg.Client): Promise<void> => {
  await client.query(
    `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = '${lockTimeout}';
     set datestyle = 'ISO, MDY'; set intervalstyle = 'postgres'; set bytea_output = 'hex';
     set extra_float_digits = 1; set timezone = 'UTC'; set client_encoding = 'UTF8'`,
  )
  await client.query('begin isolation level repeatable read read only')
}

const readManifest = async (client: pg.Client, now: Date): Promise<Manifest> => {
  const { rows: migrations } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migrations order by name',
  )
  const { rows } = await client.query<{ server_version: string }>('show server_version')
  return {
    created_at: now.toISOString(),
    postgres: rows[0]?.server_version ?? '',
    migrations,
  }
}

const writeTables = async (
  client: pg.Client,
  writer: ArchiveWriter,
): Promise<Record<string, number>> => {
  const rows: Record<string, number> = {}
  for (const table of await listTables(client, tablesOfSchema)) {
    await writer.write('T', table)
    const columns = table.columns.map((name) => pg.escapeIdentifier(name)).join(', ')
    const source = `${pg.escapeIdentifier(table.name)} (${columns})`
    rows[table.name] = await writeCopy(client, writer, source)
  }
  return rows
}

const writeJobs = async (client: pg.Client, writer: ArchiveWriter): Promise<number> => {
  await writer.write('J', { columns: jobColumns })
  return writeCopy(client, writer, `(${selectJobs})`)
}

/** The number of rows. */
const writeCopy = async (
  client: pg.Client,
  writer: ArchiveWriter,
  source: string,
): Promise<number> => {
  const copy = client.query(copyTo(`copy ${source} to stdout`))
  await pipeline(copy, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await writer.write('D', chunk)
  })
  return copy.rowCount
}

const writeObjects = async (
  client: pg.Client,
  writer: ArchiveWriter,
  { listObjects }: BackUpOptions,
): Promise<number> => {
  const snapshot = queryableOver(({ text }, values) => client.query(text, [...values]))
  let count = 0
  for await (const { key, bytes } of listObjects(snapshot)) {
    await writer.write('O', { key, size: bytes.length })
    if (bytes.length > 0) await writer.write('D', bytes)
    count += 1
  }
  return count
}
