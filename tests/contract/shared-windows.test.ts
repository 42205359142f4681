import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type Database } from '../../src/database/database.ts'
import { createSharedWindows } from '../../src/http/rate-limits/shared-windows.ts'
import { createManualTime } from '../support/manual-time.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const clock = createManualTime(new Date('2026-08-01T00:00:00Z'))

const createNode = (db: Database = database.db) =>
  createSharedWindows({ database: db, clock, windowSeconds: 60 })

test('three racing nodes issue every ticket once and never more than the limit', async () => {
  const nodes = [createNode(), createNode(), createNode()]
  const limit = 100
  const hits = await Promise.all(
    nodes.flatMap((node) => Array.from({ length: 200 }, () => node.hit('race', limit))),
  )
  const accepted = hits.map(({ count }) => count).filter((count) => count <= limit)
  assert.equal(new Set(accepted).size, accepted.length)
  const strandedAtMost = (nodes.length - 1) * (limit / 20)
  assert.ok(accepted.length <= limit && accepted.length >= limit - strandedAtMost)
})

test('a used-up allowance causes no database query until its window ends', async () => {
  let statements = 0
  const counting: Database = {
    ...database.db,
    row: (statement, values) => {
      statements += 1
      return database.db.row(statement, values)
    },
  }
  const node = createNode(counting)
  for (let hits = 0; hits < 50; hits += 1) await node.hit('used-up', 2)
  assert.equal(statements, 2)
})

test('a new window opens once the old one has ended', async () => {
  const node = createNode()
  await node.hit('renewed', 1)
  assert.equal((await node.hit('renewed', 1)).count, 2)
  await database.db.run(
    sql('test.end-window', "update rate_windows set ends_at = now() where key = 'renewed'"),
    [],
  )
  clock.advance(60_001)
  const { count, resetSeconds } = await node.hit('renewed', 1)
  assert.equal(count, 1)
  assert.equal(resetSeconds, 60)
})
