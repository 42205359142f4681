import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { connectToTestServer } from './test-server.ts'

export interface TestDatabase {
  readonly db: Database
  /** For a second `openDatabase`, a plain `pg` client or another process (as JSON). */
  readonly connection: pg.ClientConfig
  /** Closes `db` and drops the database, even with open connections. */
  drop(): Promise<void>
}

const migrationsFolder = join(import.meta.dirname, '../../migrations')
/** Tests are many processes over one server. */
const maxConnections = 10

/**
 * A fresh database with all migrations applied: a copy of a template that is migrated once for each content of
 * migrations/. Call `drop` in `after`.
 */
export const createTestDatabase = async (): Promise<TestDatabase> => {
  const server = await connectToTestServer()
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(server, async (client) => {
    const template = await ensureTemplate(client, server)
    await client.query(`create database ${name} template ${template} strategy file_copy`)
  })
  const connection = { ...server, database: name }
  const db = openDatabase({ connection, logger: silentLogger, maxConnections })
  const drop = async (): Promise<void> => {
    await db.stop()
    await administer(server, (client) =>
      client.query(`drop database if exists ${name} with (force)`),
    )
  }
  return { db, connection, drop }
}

const administer = async <T>(
  server: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client(server)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const templateLockKey = 7_065_483_442

/** Built under another name and renamed, so that a killed test leaves no incomplete template. */
const ensureTemplate = async (client: pg.Client, server: pg.ClientConfig): Promise<string> => {
  const template = `template_${hashOfMigrations()}`
  await client.query('select pg_advisory_lock($1)', [templateLockKey])
  const { rowCount } = await client.query('select from pg_database where datname = $1', [template])
  if (rowCount === 0) {
    const unfinished = `${template}_new`
    await client.query(`drop database if exists ${unfinished} with (force)`)
    await client.query(`create database ${unfinished}`)
    const connection = { ...server, database: unfinished }
    await migrate({ connection, folder: migrationsFolder, logger: silentLogger })
    await client.query(`alter database ${unfinished} rename to ${template}`)
  }
  await client.query('select pg_advisory_unlock($1)', [templateLockKey])
  return template
}

const hashOfMigrations = (): string => {
  const hash = createHash('sha256')
  for (const name of readdirSync(migrationsFolder).toSorted())
    hash.update(`${name}\n`).update(readFileSync(join(migrationsFolder, name)))
  return hash.digest('hex').slice(0, 16)
}
