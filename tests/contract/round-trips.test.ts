import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { placeCall } from '../../src/domains/calls/place-call.ts'
import { runOnce } from '../../src/http/steps/idempotency.ts'
import { newId } from '../../src/runtime/ids.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy.ts'
import { contextOf, createOrganizationFixture } from '../support/organization-fixture.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { watchHints } from '../support/watch-hints.ts'

let database: TestDatabase
let db: Database
let proxy: DatabaseProxy

/** How often our side sent after the server had: each is a wait for a response. */
let roundTrips = 0

before(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.connection, () => {
    let hasServerSpoken = true
    return {
      fromClient() {
        if (hasServerSpoken) roundTrips += 1
        hasServerSpoken = false
      },
      fromServer() {
        hasServerSpoken = true
      },
    }
  })
  const proxied = openDatabase({
    connection: proxy.connection,
    logger: silentLogger,
    maxConnections: 1,
  })
  // A hint is a notification after the response: no call waits for its round trip.
  db = { ...proxied, transaction: watchHints(() => proxied).transaction }
})
after(async () => {
  await db.stop()
  proxy.stop()
  await database.drop()
})

test('an idempotent POST /calls takes two round trips to the database, its commit included', async () => {
  const { organizationId, agentId } = await createOrganizationFixture(database.db)
  const contact = await database.db.transaction((tx) =>
    placeCall(
      {
        params: {},
        query: {},
        body: {
          agent_id: agentId,
          recipient: {
            external_id: 'one',
            source: 'public_api',
            name: 'One',
            phone_number: '+12025550100',
          },
        },
      },
      contextOf(tx, organizationId),
    ),
  )
  const body = { agent_id: agentId, contact_id: contact.contact_id }
  const place = () =>
    runOnce(db, { organizationId, key: newId(), fingerprint: randomBytes(32) }, async (tx) => {
      const call = await placeCall({ params: {}, query: {}, body }, contextOf(tx, organizationId))
      return { status: 202, body: JSON.stringify(call), location: `/calls/${call.id}` }
    })
  // Connects and prepares the statements.
  await place()
  roundTrips = 0
  for (let calls = 0; calls < 5; calls += 1) await place()
  assert.equal(roundTrips, 2 * 5)
})
