import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { silentLogger } from '../runtime/logger.ts'
import { isRetryable } from './errors.ts'
import { listPendingMigrations, migrate } from './migrate.ts'
import { openDatabase } from './open-database.ts'

let server: TestDatabase
before(async () => {
  server = await createTestDatabase()
})
after(() => server.drop())

let folder: string
let connection: pg.ClientConfig
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outdial-migrations-'))
  const name = `migrate_${process.pid}_${Math.random().toString(36).slice(2)}`
  await query(server.connection, `create database ${name}`)
  connection = { ...server.connection, database: name }
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await query(server.connection, `drop database ${connection.database} with (force)`)
})

const query = async (where: pg.ClientConfig, text: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client(where)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
const pendingOf = async (place: pg.ClientConfig): Promise<string[]> => {
  const db = openDatabase({ connection: place, logger: silentLogger })
  try {
    return await listPendingMigrations(db, folder)
  } finally {
    await db.stop()
  }
}
const run = () => migrate({ connection, folder, logger: silentLogger })

test('each migration is applied once, in order, after graphile-worker', async () => {
  write(
    '0002-second.sql',
    'insert into item select id from graphile_worker.jobs; insert into item values (2);',
  )
  write('0001-first.sql', 'create table item (id int);')
  assert.deepEqual(await pendingOf(connection), ['0001-first.sql', '0002-second.sql'])
  assert.deepEqual(await run(), ['0001-first.sql', '0002-second.sql'])
  assert.deepEqual(await run(), [])
  assert.deepEqual(await pendingOf(connection), [])
  write('0003-third.sql', 'insert into item values (3);')
  assert.deepEqual(await run(), ['0003-third.sql'])
  assert.deepEqual(await query(connection, 'select id from item order by id'), [
    { id: 2 },
    { id: 3 },
  ])
})

test('a silent server is given up', async (t) => {
  write('0001-first.sql', 'create table item (id int);')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const asked = once(silent, 'connection')
  const migrating = migrate({
    connection: { host: '127.0.0.1', port, user: 'outdial' },
    folder,
    logger: silentLogger,
  })
  await asked
  t.mock.timers.tick(10_000)
  await assert.rejects(migrating, (error) => isRetryable(error))
  silent.close()
})

test('programs that migrate at the same time apply each migration once', async () => {
  write('0001-first.sql', 'create table item (id int); insert into item values (1);')
  const applied = await Promise.all([run(), run(), run(), run()])
  assert.deepEqual(applied.flat(), ['0001-first.sql'])
  assert.deepEqual(await query(connection, 'select id from item'), [{ id: 1 }])
})

test('a migration that fails leaves no trace, and reports where it failed', async () => {
  write('0001-first.sql', 'create table item (id int);')
  write(
    '0002-second.sql',
    'insert into item values (1);\ncreate table item (id int);\nselect\n  nonsense;',
  )
  await assert.rejects(run(), {
    name: 'DatabaseSetupError',
    message:
      /^The migration 0002-second\.sql failed and was rolled back: relation "item" already exists/,
  })
  assert.deepEqual(await query(connection, 'select id from item'), [])
  assert.deepEqual(await pendingOf(connection), ['0002-second.sql'])
  write('0002-second.sql', 'select 1;\nselect nonsense;')
  await assert.rejects(run(), /column "nonsense" does not exist \(line 2\)\.$/)
})

test('a server that goes away during a migration is reported with the remedy', async () => {
  write('0001-first.sql', 'select pg_terminate_backend(pg_backend_pid());')
  await assert.rejects(
    run,
    /^DatabaseSetupError: .* went away during the migration 0001-first\.sql .*: start again/,
  )
  write('0001-first.sql', 'create table item (id int);')
  assert.deepEqual(await run(), ['0001-first.sql'])
})

test('an edited migration is refused', async () => {
  write('0001-first.sql', 'create table item (id int);')
  await run()
  write('0001-first.sql', 'create table item (id int);\r\n'.replace('\r\n', ''))
  assert.deepEqual(await run(), [])
  write('0001-first.sql', 'create table item (id bigint);')
  await assert.rejects(run(), /0001-first\.sql was edited after this database applied it/)
  await assert.rejects(pendingOf(connection), /was edited/)
})

test('a database newer than the program is refused', async () => {
  write('0001-first.sql', 'create table item (id int);')
  write('0002-second.sql', 'select 1;')
  await run()
  rmSync(join(folder, '0002-second.sql'))
  await assert.rejects(run(), /newer than this version of Outdial, .* migration 0002-second\.sql/)
})

test('a migration that comes late is refused', async () => {
  write('0002-second.sql', 'create table item (id int);')
  await run()
  write('0001-first.sql', 'select 1;')
  await assert.rejects(run(), /0001-first\.sql comes before 0002-second\.sql, which is applied/)
})

test('ambiguously ordered names are refused', async () => {
  write('0001-first.sql', 'select 1;')
  write('0001-other.sql', 'select 1;')
  await assert.rejects(run(), /0001-first\.sql and 0001-other\.sql share a number/)
  renameSync(join(folder, '0001-other.sql'), join(folder, '2-other.sql'))
  await assert.rejects(run(), /2-other\.sql must be named like/)
})
