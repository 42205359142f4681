import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { silentLogger } from '../runtime/logger.ts'
import { sql, type Database, type Transaction } from './database.ts'
import { isRetryable, sqlStateOf } from './errors.ts'
import { openDatabase } from './open-database.ts'

const insert = sql('test.insert', 'insert into item (id, note) values ($1, $2)')
const count = sql('test.count', 'select count(*) as n from item where note = $1')
const countOf = async (db: Database | Transaction, note: string): Promise<number> =>
  (await db.row<{ n: number }>(count, [note]))?.n ?? -1

let database: TestDatabase
let db: Database
before(async () => {
  database = await createTestDatabase()
  db = database.db
  await db.run(sql('test.create', 'create table item (id int primary key, note text)'), [])
})
after(() => database.drop())

test('values come back as the types that the stores expect', async () => {
  const types = sql(
    'test.types',
    `select 7::bigint as small, 9007199254740993::bigint as large, '2026-03-01'::date as day,
            '2026-03-01 12:00:00.123456+02'::timestamptz as instant,
            '2026-03-01 12:00:00.123456+02'::timestamptz::text as instant_text, $1::jsonb as json`,
  )
  const row = await db.row<Record<string, unknown>>(types, [{ a: [1] }])
  assert.deepEqual(row, {
    small: 7,
    large: '9007199254740993',
    day: '2026-03-01',
    instant: new Date('2026-03-01T10:00:00.123Z'),
    instant_text: '2026-03-01 10:00:00.123456+00',
    json: { a: [1] },
  })
})

test('statements are never compiled, and times are in UTC, whatever the server’s settings', async () => {
  const settings = sql(
    'test.settings',
    `select current_setting('jit') as jit, current_setting('TimeZone') as time_zone`,
  )
  assert.deepEqual(await db.row(settings, []), { jit: 'off', time_zone: 'UTC' })
})

test('a transaction commits its work, and calls its hooks afterwards', async () => {
  const afterwards = Promise.withResolvers<number>()
  let meanwhile: number | undefined
  const result = await db.transaction(async (tx) => {
    tx.afterCommit(() => void countOf(db, 'commit').then(afterwards.resolve, afterwards.reject))
    await tx.run(insert, [1, 'commit'])
    meanwhile = await countOf(db, 'commit')
    return 'done'
  })
  assert.equal(result, 'done')
  assert.equal(meanwhile, 0)
  assert.equal(await afterwards.promise, 1)
})

test('a statement that leaves with COMMIT is committed, and if it fails the transaction fails', async () => {
  let failed = 0
  const note = (): void => void (failed += 1)
  await db.transaction(async (tx) => tx.withCommit(tx.run(insert, [11, 'with commit']), note))
  assert.equal(await countOf(db, 'with commit'), 1)
  const again = db.transaction(async (tx) => {
    tx.withCommit(tx.run(insert, [12, 'with commit']), note)
    tx.withCommit(tx.run(insert, [11, 'with commit']), note)
  })
  await assert.rejects(again, ({ cause }: Error) => /duplicate key/.test(String(cause)))
  assert.equal(await countOf(db, 'with commit'), 1)
  assert.equal(failed, 1)
})

test('a transaction whose work throws leaves nothing and runs no hook', async () => {
  let hooks = 0
  const work = db.transaction(async (tx) => {
    tx.afterCommit(() => hooks++)
    await tx.run(insert, [2, 'rollback'])
    throw new Error('changed my mind')
  })
  await assert.rejects(work, /changed my mind/)
  assert.equal(await countOf(db, 'rollback'), 0)
  assert.equal(hooks, 0)
})

test('a swallowed statement error never looks like a commit', async () => {
  const work = db.transaction(async (tx) => {
    await tx.run(insert, [3, 'swallowed'])
    await tx.run(insert, [3, 'swallowed']).catch(() => {})
    return 'success'
  })
  await assert.rejects(work, (error) => sqlStateOf(error) === '23505')
  assert.equal(await countOf(db, 'swallowed'), 0)
})

test('a statement that was not awaited still fails its transaction', async () => {
  const work = db.transaction(async (tx) => {
    void tx.run(insert, [4, 'unawaited'])
    void tx.run(insert, [4, 'unawaited'])
    return 'success'
  })
  await assert.rejects(work)
  assert.equal(await countOf(db, 'unawaited'), 0)
})

test('a commit that the server refuses is an error', async () => {
  await db.run(
    sql(
      'test.deferred',
      'create table pair (id int unique deferrable initially deferred, note text)',
    ),
    [],
  )
  const insertPair = sql('test.pair', 'insert into pair (id) values ($1)')
  const work = db.transaction(async (tx) => {
    await tx.run(insertPair, [1])
    await tx.run(insertPair, [1])
  })
  await assert.rejects(work, (error) => sqlStateOf(error) === '23505' && !isRetryable(error))
})

test('a statement after the end of its transaction is refused', async () => {
  let leaked: Transaction | undefined
  await db.transaction(async (tx) => {
    leaked = tx
    await tx.run(insert, [5, 'leak'])
  })
  await assert.rejects(leaked!.run(insert, [6, 'leak']), /came after its transaction/)
  assert.equal(await countOf(db, 'leak'), 1)
})

test('statements of one transaction get their results in order without waiting for each other', async () => {
  const value = sql('test.value', 'select $1::int as n')
  const answers = await db.transaction((tx) =>
    Promise.all(Array.from({ length: 50 }, (_, n) => tx.row<{ n: number }>(value, [n]))),
  )
  assert.deepEqual(
    answers.map((row) => row?.n),
    Array.from({ length: 50 }, (_, n) => n),
  )
})

test('a violated constraint does not cost the connection its prepared statements', async () => {
  const single = openDatabase({
    connection: database.connection,
    logger: silentLogger,
    maxConnections: 1,
  })
  const pid = sql('test.pid', 'select pg_backend_pid() as pid')
  const first = await single.row(pid, [])
  await single.run(insert, [7, 'single'])
  await assert.rejects(single.run(insert, [7, 'single']))
  await assert.rejects(single.transaction((tx) => tx.run(insert, [7, 'single'])))
  assert.equal(await countOf(single, 'single'), 1)
  assert.deepEqual(await single.row(pid, []), first)
  await single.stop()
})

test('a value that cannot be encoded does not affect those after it', async () => {
  const single = openDatabase({
    connection: database.connection,
    logger: silentLogger,
    maxConnections: 1,
  })
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  await single.run(insert, [8, 'encode'])
  await assert.rejects(single.run(insert, [9, circular]), TypeError)
  await assert.rejects(
    single.transaction((tx) => tx.run(insert, [9, circular])),
    TypeError,
  )
  assert.equal(await single.run(insert, [9, 'encode']), 1)
  assert.equal(await countOf(single, 'encode'), 2)
  await single.stop()
})

test('a lost connection is a retryable error, and the next call works', async () => {
  const terminate = sql('test.terminate', 'select pg_terminate_backend($1)')
  const pid = sql('test.pid2', 'select pg_backend_pid() as pid')
  const work = db.transaction(async (tx) => {
    const backend = await tx.row<{ pid: number }>(pid, [])
    await db.run(terminate, [backend?.pid])
    await tx.run(insert, [10, 'lost'])
  })
  await assert.rejects(work, (error) => isRetryable(error))
  assert.equal(await countOf(db, 'lost'), 0)
})

test('a connection lost during commit is an unknown outcome, never a success', async () => {
  const client = new pg.Client(database.connection)
  await client.connect()
  await client.query(`
    create function die() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
    create table mortal (id int);
    create constraint trigger mortal after insert on mortal
      deferrable initially deferred for each row execute function die()`)
  await client.end()
  const work = db.transaction((tx) =>
    tx.run(sql('test.mortal', 'insert into mortal values ($1)'), [1]),
  )
  await assert.rejects(work, { name: 'CommitOutcomeUnknownError' })
})

test('a read-only server is retryable, on another connection', async () => {
  const readOnly = sql('test.readonly', 'set transaction read only')
  const work = db.transaction(async (tx) => {
    await tx.run(readOnly, [])
    await tx.run(insert, [11, 'read only'])
  })
  await assert.rejects(work, (error) => sqlStateOf(error) === '25006' && isRetryable(error))
})

test('stop ends the transactions that do not end by themselves', async () => {
  const own = openDatabase({
    connection: database.connection,
    logger: silentLogger,
    stopTimeoutMs: 50,
  })
  const started = Promise.withResolvers<void>()
  const work = own.transaction(async (tx) => {
    await tx.run(insert, [12, 'stop'])
    started.resolve()
    await tx.run(sql('test.sleep', 'select pg_sleep(60)'), [])
  })
  const outcome = assert.rejects(work, (error) => isRetryable(error))
  await started.promise
  await own.stop()
  await outcome
  assert.equal(await countOf(db, 'stop'), 0)
})
