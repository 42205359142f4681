import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { lookup, sql, type Database } from './database.ts'
import { isRetryable, sqlStateOf } from './errors.ts'

const backend = lookup('test.backend', 'select pg_backend_pid() as pid, $1::int as asked')
const divide = lookup('test.divide', 'select 12 / $1::int as quotient')

let database: TestDatabase
let db: Database
before(async () => {
  database = await createTestDatabase()
  db = database.db
})
after(() => database.drop())

const ask = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, at) => db.row<{ pid: number; asked: number }>(backend, [at])),
  )

test('look-ups of one turn share a connection, and each gets its own result', async () => {
  const rows = await ask(16)
  assert.deepEqual(
    rows.map((row) => row?.asked),
    Array.from({ length: 16 }, (_, at) => at),
  )
  assert.equal(new Set(rows.map((row) => row?.pid)).size, 1)
})

test('no more than 16 wait for each other', async () => {
  const rows = await ask(40)
  const perBackend = Map.groupBy(rows, (row) => row?.pid)
  assert.equal(perBackend.size, 3)
  assert.ok([...perBackend.values()].every((together) => together.length <= 16))
})

test('a look-up that fails does not affect those sent with it', async () => {
  const divisors = [3, 0, 4, 0, 6]
  const outcomes = await Promise.allSettled(divisors.map((each) => db.row(divide, [each])))
  assert.deepEqual(
    outcomes.map((each) =>
      each.status === 'fulfilled' ? each.value : (sqlStateOf(each.reason) ?? each.reason),
    ),
    [{ quotient: 4 }, '22012', { quotient: 3 }, '22012', { quotient: 2 }],
  )
})

test('when the connection breaks all of them are retryable, and the next ones work', async () => {
  const end = lookup('test.end', 'select pg_terminate_backend(pg_backend_pid()), $1::int')
  const outcomes = await Promise.allSettled([db.row(end, [1]), db.row(divide, [3])])
  for (const each of outcomes) assert.ok(each.status === 'rejected' && isRetryable(each.reason))
  assert.deepEqual(await db.row(divide, [3]), { quotient: 4 })
})

test('within a transaction a look-up sees the transaction’s changes', async () => {
  await db.run(sql('test.make', 'create table seen (id int primary key)'), [])
  const count = lookup('test.seen', 'select count(*)::int as n from seen where id = $1')
  await db.transaction(async (tx) => {
    await tx.run(sql('test.add', 'insert into seen (id) values ($1)'), [1])
    assert.deepEqual(await tx.row(count, [1]), { n: 1 })
    assert.deepEqual(await db.row(count, [1]), { n: 0 })
  })
})
