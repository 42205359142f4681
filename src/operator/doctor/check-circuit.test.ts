import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import {
  createCallingOrganization,
  execute,
  queueCalls,
} from '../../../tests/support/queue-fixtures.ts'
import { closeCircuit, openCircuit } from '../../dispatch/pacing/circuit-store.ts'
import { lowerPace, releasePace } from '../../dispatch/pacing/pace-store.ts'
import { insertTrunk } from '../../../tests/support/trunk-fixtures.ts'
import { checkCircuit } from './check-circuit.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const instant = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`

const gateway = { trunk: 'carrier', uri: 'sip:192.0.2.1' }

test('an open circuit is reported with its reason, start, waiting calls and next probe', async () => {
  const { db } = database
  await insertTrunk(db, 'carrier', { uris: ['sip:192.0.2.1'] })
  assert.deepEqual(await checkCircuit(db), [])
  const [open, closed] = await Promise.all([
    createCallingOrganization(db),
    createCallingOrganization(db, { mode: 'sandbox' }),
  ])
  await queueCalls(db, open, 2)
  await queueCalls(db, closed, 1)
  await openCircuit(db, gateway, {
    cause: 'unreachable',
    reason: 'The trunk refused the connection.',
  })
  const [unreachable] = await checkCircuit(db)
  assert.equal(unreachable?.status, 'failed')
  assert.match(
    unreachable.message,
    new RegExp(
      `^The circuit of carrier at sip:192[.]0[.]2[.]1 is open since ${instant}, so that no call is sent there: The trunk refused the connection[.] 2 calls wait for it[.] It is asked with OPTIONS at ${instant}, `,
    ),
  )
  await closeCircuit(db, gateway, 'works')
  await execute(db, 'update lanes set paused = true')
  await openCircuit(db, gateway, { cause: 'credentials', reason: 'SIP 401 Unauthorized.' })
  const [refused] = await checkCircuit(db)
  assert.match(
    refused?.message ?? '',
    new RegExp(`No call waits for it[.] Check user and password.* at ${instant}[.]$`),
  )
  await execute(
    db,
    `update trunk_gateways set down_cause = 'registration', down_reason = 'SIP 403.', retry_at = null, ping_at = null`,
  )
  const [unregistered] = await checkCircuit(db)
  assert.match(unregistered?.message ?? '', /SIP 403[.] .* once a node is registered there[.]$/)
})

test('a congested carrier is a warning, with the reason, the pace and the remedy', async () => {
  const { db } = database
  await execute(db, 'delete from trunks')
  await insertTrunk(db, 'carrier', { uris: ['sip:192.0.2.1'], cps: 40 })
  await lowerPace(db, gateway, { reason: 'SIP 503 Service Unavailable: no room.', ageMs: 0 })
  const [held] = await checkCircuit(db)
  assert.equal(held?.status, 'warning')
  assert.match(
    held.message,
    new RegExp(
      `^The carrier of carrier is congested since ${instant}, so that 20 of 40 calls per second are dialled: SIP 503 .* once it takes a call[.] .*trunk set carrier --cps N`,
    ),
  )
  await releasePace(db, 'carrier')
  const [rising] = await checkCircuit(db)
  assert.match(rising?.message ?? '', /It takes calls again, and the pace rises by itself[.]/)
})
