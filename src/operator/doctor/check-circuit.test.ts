import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import {
  createCallingOrganization,
  execute,
  queueCalls,
} from '../../../tests/support/queue-fixtures.ts'
import { closeCircuit, openCircuit } from '../../dispatch/pacing/circuit-store.ts'
import { checkCircuit } from './check-circuit.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const instant = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`

test('an open circuit is reported with its reason, start, waiting calls and next probe', async () => {
  const { db } = database
  assert.deepEqual(await checkCircuit(db), [])
  const [open, closed] = await Promise.all([
    createCallingOrganization(db),
    createCallingOrganization(db, { mode: 'sandbox' }),
  ])
  await queueCalls(db, open, 2)
  await queueCalls(db, closed, 1)
  await openCircuit(db, 'env', 'unreachable', 'The trunk refused the connection.')
  const [unreachable] = await checkCircuit(db)
  assert.equal(unreachable?.status, 'failed')
  assert.match(
    unreachable.message,
    new RegExp(
      `^Its circuit is open since ${instant}, so that no call is dialled: The trunk refused the connection[.] 2 calls wait for it[.] It is asked with OPTIONS at ${instant}, `,
    ),
  )
  await closeCircuit(db, 'env')
  await execute(db, 'update lanes set paused = true')
  await openCircuit(db, 'env', 'credentials', 'SIP 401 Unauthorized.')
  const [refused] = await checkCircuit(db)
  assert.match(
    refused?.message ?? '',
    new RegExp(`No call waits for it[.] Check user and password .* at ${instant}[.]$`),
  )
})
