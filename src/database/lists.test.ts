import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { until } from '../../tests/support/until.ts'
import { list, sql, type Database } from './database.ts'
import { isRetryable, ListCutError } from './errors.ts'
import { listTimeoutMs, maxListConnections } from './lists.ts'

const page = list('test.page', 'select $1::text as organization, pg_backend_pid() as pid')
const stuck = list('test.stuck', 'select $1::text, pg_advisory_xact_lock_shared($2)')
const setting = list('test.setting', 'select $1::text, current_setting($2) as value')
const read = sql('test.read', 'select 1 as n')
const hold = sql('test.hold', 'select pg_advisory_xact_lock($1)')
const stuckCount = sql(
  'test.stuckCount',
  `select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event = 'advisory'`,
)

let database: TestDatabase
let db: Database
before(async () => {
  database = await createTestDatabase()
  db = database.db
})
after(() => database.drop())

/** Lists of these organizations that block until `release`. */
const standStill = async (lock: number, organizations: readonly string[]) => {
  const released = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const holder = db.transaction(async (tx) => {
    await tx.run(hold, [lock])
    held.resolve()
    await released.promise
  })
  await held.promise
  const lists = organizations.map((each) => db.row(stuck, [each, lock]))
  return {
    lists,
    waiting: async () => (await db.row<{ n: number }>(stuckCount, []))?.n ?? 0,
    release: async () => {
      released.resolve()
      await holder
      await Promise.all(lists)
    },
  }
}

test('blocked lists take no connection from anything else', async () => {
  const still = await standStill(
    1,
    Array.from({ length: 40 }, (_, at) => `organization ${at}`),
  )
  await until(
    'lists that wait',
    async () => (await still.waiting()) === maxListConnections || undefined,
  )
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => db.transaction((tx) => tx.row<{ n: number }>(read, []))),
  )
  assert.equal(answers.length, 100)
  assert.equal(await still.waiting(), maxListConnections)
  await still.release()
})

test('the lists of one organization leave connections to those of another', async () => {
  const still = await standStill(
    2,
    Array.from({ length: 40 }, () => 'slow'),
  )
  await until('lists that wait', async () => (await still.waiting()) > 0 || undefined)
  const row = await db.row<{ organization: string }>(page, ['another'])
  assert.equal(row?.organization, 'another')
  assert.ok((await still.waiting()) < maxListConnections)
  await still.release()
})

test('a list that takes too long is cancelled by the server, and not retried', async () => {
  const limit = await db.row<{ value: string }>(setting, ['any', 'statement_timeout'])
  assert.equal(limit?.value, `${listTimeoutMs / 1000}s`)
  const cut = list(
    'test.cut',
    `do $$ begin raise exception 'too slow' using errcode = 'query_canceled'; end $$`,
  )
  await assert.rejects(db.rows(cut, []), (error) => {
    assert.ok(error instanceof ListCutError)
    return !isRetryable(error)
  })
  assert.equal((await db.row<{ organization: string }>(page, ['any']))?.organization, 'any')
})
