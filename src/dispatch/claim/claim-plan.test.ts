import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import {
  claimAndSettle,
  createCallingOrganization,
  execute,
  insertNode,
  openTrunk,
  queueCalls,
} from '../../../tests/support/queue-fixtures.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import { findWork } from './find-work.ts'

let database: TestDatabase
let db: Database
const nodeId = newId()

before(async () => {
  database = await createTestDatabase()
  db = database.db
  await openTrunk(db, 100)
  await insertNode(db, nodeId)
})
after(() => database.drop())

/** Pages of the queue and its indexes that a transaction has read. */
const pagesRead = async (tx: Transaction): Promise<number> => {
  const [row] = await execute<{ pages: number }>(
    tx,
    `select sum(pg_stat_get_xact_blocks_fetched(oid))::int as pages
       from pg_class
      where oid = 'calls'::regclass
         or oid in (select indexrelid from pg_index where indrelid = 'calls'::regclass)`,
  )
  return row?.pages ?? 0
}

test('a claim reads no more of tables that were never analyzed than it needs', async () => {
  const organization = await createCallingOrganization(db, { concurrency: 1000 })
  await execute(db, 'alter table calls set (autovacuum_enabled = off)')
  await queueCalls(db, organization, 1)
  await execute(
    db,
    `insert into calls (organization_id, id, origin, contact_id, agent_id, agent_version, phone_number, lane_id)
     select organization_id, gen_random_uuid(), origin, contact_id, agent_id, agent_version,
            '+1202' || (2000000 + n), lane_id
       from calls cross join generate_series(1, 50000) as n`,
  )
  const pages: number[] = []
  // The same statements on one connection, repeatedly: the plan is made once.
  const watched: Database = {
    ...db,
    transaction: (work) =>
      db.transaction(async (tx) => {
        const result = await work(tx)
        pages.push(await pagesRead(tx))
        return result
      }),
  }
  for (let claims = 0; claims < 8; claims += 1) {
    const { calls } = await claimAndSettle(watched, { nodeId, route: 'env', limit: 10, except: [] })
    assert.equal(calls.length, 10)
  }
  assert.equal(pages.length, 8)
  // The server's counters only grow within a connection; a lower value belongs to another connection.
  const ofEach = pages.map((read, at) => read - Math.min(read, pages[at - 1] ?? 0))
  for (const read of ofEach) assert.ok(read < 2_000, pages.join(', '))
})

test('a hundred organizations without a call are not read by a claim', async () => {
  await execute(db, 'update dispatch_organizations set ready = false')
  await execute(
    db,
    `insert into organizations (id, name, default_version, public_api_enabled, concurrency, policy, mode)
     select gen_random_uuid(), 'Test', '2026-07-16', true, 1, '{}', 'live' from generate_series(1, 100)`,
  )
  assert.deepEqual((await findWork(db, ['env'])).readyRoutes, [])
  const organization = await createCallingOrganization(db)
  await queueCalls(db, organization, 1)
  const { calls } = await claimAndSettle(db, { nodeId, route: 'env', limit: 1, except: [] })
  assert.deepEqual(
    calls.map((call) => call.organizationId),
    [organization.organizationId],
  )
})
