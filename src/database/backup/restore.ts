import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Logger } from '../../runtime/logger.ts'
import { listAppliedMigrations, listMigrations, migrate } from '../migrate.ts'
import {
  readCheckedArchive,
  tableHead,
  verifyArchive,
  type CheckedArchive,
} from './archive-check.ts'
import {
  ArchiveError,
  type ArchiveFigures,
  type FrameType,
  type Manifest,
  type ObjectHead,
  type TableHead,
} from './archive-format.ts'
import { parse } from './archive-reader.ts'
import { tablesOfSchema } from './back-up.ts'
import {
  addRestoredJobs,
  createJobTable,
  jobColumns,
  renameRestoredTask,
  selectRestoredTasks,
} from './job-statements.ts'
import { listTables } from './table-order.ts'

interface RestoreOptions {
  readonly connection: pg.ClientConfig
  readonly path: string
  /** The program's migrations. */
  readonly migrationsFolder: string
  /** A table that has rows in every database in use. */
  readonly tableOfUse: string
  /** The name of a job's task here; most tasks run on any node, some name their node. */
  taskHere(task: string): string
  /** Whether `putObject` accepts a key. */
  isObjectKey(key: string): boolean
  /** Called before anything is written; throws if there is no space for this many bytes. */
  requireRoom(sizes: Pick<CheckedArchive, 'rowBytes' | 'objectBytes'>): Promise<void>
  /** Called before the rows are committed; once more with the same key if a restore is repeated. */
  putObject(key: string, bytes: Uint8Array): Promise<void>
  readonly logger: Logger
}

export interface RestoreReport extends ArchiveFigures {
  readonly created_at: string
}

/** The backup does not fit this database or this program. The message is a sentence for the operator. */
export class RestoreRefusedError extends Error {
  override readonly name = 'RestoreRefusedError'
}

/**
 * Restores a backup into an empty database. It reads the whole file first: a damaged file writes nothing, and a
 * failed load only the schema and some objects, so that it can be repeated. Throws `ArchiveError` and
 * `RestoreRefusedError`.
 */
export const restore = async (options: RestoreOptions): Promise<RestoreReport> => {
  const checked = await verifyArchive(options.path, options)
  const { manifest, figures } = checked
  const level = manifest.migrations.at(-1)?.name
  if (level === undefined) throw new ArchiveError('The backup is of a database without a schema.')
  await refuseUnlessFitting(options, manifest)
  await options.requireRoom(checked)
  const migrating = {
    connection: options.connection,
    folder: options.migrationsFolder,
    logger: options.logger,
  }
  await migrate({ ...migrating, through: level })
  await load(options)
  await migrate(migrating)
  return { created_at: manifest.created_at, ...figures }
}

const refuseUnlessFitting = async (
  { connection, migrationsFolder, tableOfUse }: RestoreOptions,
  { migrations }: Manifest,
): Promise<void> => {
  const known = await listMigrations(migrationsFolder)
  for (const [index, { name, checksum }] of migrations.entries()) {
    if (known[index]?.name !== name || known[index].checksum !== checksum)
      throw new RestoreRefusedError(
        `The backup was made by another version of Outdial: this one does not know its migration ${name} as it was. Restore it with the version that made it, or a newer one.`,
      )
  }
  const applied = await listAppliedMigrations(connection)
  if (applied.length > migrations.length)
    throw new RestoreRefusedError(
      `The database is newer (${applied.at(-1)?.name}) than the backup (${migrations.at(-1)?.name}): restore into a database that no command has touched yet.`,
    )
  if (applied.length > 0)
    await withClient(connection, (client) => refuseUnlessEmpty(client, tableOfUse))
}

const refuseUnlessEmpty = async (client: pg.ClientBase, table: string): Promise<void> => {
  const { rows } = await client.query<{ isThere: boolean }>(
    'select to_regclass($1) is not null as "isThere"',
    [table],
  )
  if (rows[0]?.isThere !== true) return
  const { rowCount } = await client.query(`select from ${pg.escapeIdentifier(table)} limit 1`)
  if (rowCount !== 0)
    throw new RestoreRefusedError(
      `The database is in use (${table} has rows): restore into an empty one, with another OUTDIAL_DATA or DATABASE_URL.`,
    )
}

const withClient = async <T>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({ application_name: 'outdial restore', ...connection })
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

/** All rows in one transaction, which commits when the objects that they name are stored. */
const load = (options: RestoreOptions): Promise<void> =>
  withClient(options.connection, async (client) => {
    await client.query(
      `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = '30s';
       set datestyle = 'ISO, MDY'; set client_encoding = 'UTF8'`,
    )
    await client.query('begin')
    const tables = await prepareTables(client, options.tableOfUse)
    for await (const section of readSections(options)) {
      if (section.type === 'O')
        await putObject(options, parse<ObjectHead>(section.head), section.data)
      else await loadSection(client, section, tables)
    }
    await commit(client, namesOf(tables), options)
  })

/** Our triggers would create rows that the backup also has; foreign keys are checked as always. */
const prepareTables = async (client: pg.Client, tableOfUse: string): Promise<TableHead[]> => {
  const known = await listTables(client, tablesOfSchema)
  const tables = namesOf(known)
  await client.query(`lock table ${tables.join(', ')} in access exclusive mode`)
  await refuseUnlessEmpty(client, tableOfUse)
  await client.query(`truncate ${tables.join(', ')}`)
  for (const table of tables) await client.query(`alter table ${table} disable trigger user`)
  await client.query(createJobTable)
  return known
}

const namesOf = (tables: readonly TableHead[]): string[] =>
  tables.map(({ name }) => pg.escapeIdentifier(name))

const commit = async (
  client: pg.Client,
  tables: readonly string[],
  options: RestoreOptions,
): Promise<void> => {
  const { rows } = await client.query<{ task: string }>(selectRestoredTasks)
  for (const { task } of rows)
    await client.query(renameRestoredTask, [task, options.taskHere(task)])
  await client.query(addRestoredJobs)
  for (const table of tables) await client.query(`alter table ${table} enable trigger user`)
  await client.query('commit')
  await client.query('analyze')
}

interface Section {
  readonly type: Exclude<FrameType, 'D'>
  readonly head: Buffer
  /** Read it to its end before the next section. */
  readonly data: AsyncIterable<Buffer>
}

/** Frames with the data that belongs to them. */
async function* readSections(options: RestoreOptions): AsyncGenerator<Section> {
  const frames = readCheckedArchive(options.path, options)
  let next = await frames.next()
  async function* data(): AsyncGenerator<Buffer> {
    while (next.done !== true && next.value.type === 'D') {
      yield next.value.payload
      next = await frames.next()
    }
  }
  while (next.done !== true) {
    const { type, payload } = next.value
    if (type === 'D') throw new ArchiveError('The backup is damaged: data belongs to nothing.')
    next = await frames.next()
    yield { type, head: payload, data: data() }
  }
}

const loadSection = async (
  client: pg.Client,
  { type, head, data }: Section,
  tables: readonly TableHead[],
): Promise<void> => {
  if (type === 'T') {
    const { name, columns } = tableHead(head)
    const known = tables.find((table) => table.name === name)
    // A foreign name may be that of any table of the server.
    if (!known || !columns.every((column) => known.columns.includes(column)))
      throw new ArchiveError(`The backup holds a table ${name} that this version does not have.`)
    await copyInto(client, pg.escapeIdentifier(name), columns, data)
  } else if (type === 'J') {
    const { columns } = parse<Pick<TableHead, 'columns'>>(head)
    if (columns.join() !== jobColumns.join())
      throw new ArchiveError('The backup holds jobs in a form this version does not know.')
    await copyInto(client, 'restored_jobs', columns, data)
  }
}

const copyInto = async (
  client: pg.Client,
  table: string,
  columns: readonly string[],
  data: AsyncIterable<Buffer>,
): Promise<void> => {
  const names = columns.map((name) => pg.escapeIdentifier(name)).join(', ')
  const sink = client.query(copyFrom(`copy ${table} (${names}) from stdin`))
  try {
    await pipeline(Readable.from(data), sink)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || !dataErrors.test(error.code ?? '')) throw error
    // Its message contains text of the file, of any length.
    const reason = error.message.slice(0, maxReasonLength)
    throw new ArchiveError(`The backup holds rows that ${table} does not take: ${reason}`, {
      cause: error,
    })
  }
}

/** Data exceptions, and violated constraints. */
const dataErrors = /^2[23]/
const maxReasonLength = 200

const putObject = async (
  options: RestoreOptions,
  { key, size }: ObjectHead,
  data: AsyncIterable<Buffer>,
): Promise<void> => {
  const bytes = Buffer.allocUnsafeSlow(size)
  let filled = 0
  for await (const chunk of data) filled += chunk.copy(bytes, filled)
  await options.putObject(key, bytes)
}
