import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { insertNode } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { insertTrunk, testBox } from '../../../tests/support/trunk-fixtures.ts'
import { until } from '../../../tests/support/until.ts'
import { showTrunk } from '../../domains/trunks/edit-trunks.ts'
import { newId } from '../../runtime/ids.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { createRegistrationReport, type NodeRegistration } from './registration-report.ts'

let test: TestDatabase
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

it('a trunk takes calls while any live node is registered at its gateway, and tells why it does not', async (t) => {
  const { db } = test
  const uri = 'sip:registrar.example'
  await insertTrunk(db, 'carrier', { uris: [uri], user: 'acct', register: true }, 'right')
  const nodeId = newId()
  await insertNode(db, nodeId)
  let registration: NodeRegistration = {
    trunk: 'carrier',
    gateway: uri,
    state: 'failed',
    reason: 'SIP 403 Forbidden.',
  }
  const report = createRegistrationReport({
    database: db,
    nodeId: () => nodeId,
    registrations: () => [registration],
    logger: silentLogger,
  })
  await report.start()
  t.after(() => report.stop())
  const reach = (state: string) =>
    until(`the trunk to be ${state}`, async () => {
      const shown = await showTrunk(db, testBox, 'carrier')
      return shown.state === state && shown.registrations[0]?.state === registration.state
        ? shown
        : undefined
    })
  const down = await reach('down')
  assert.deepEqual([down.reason, down.gateways[0]?.cause], ['SIP 403 Forbidden.', 'registration'])
  registration = { ...registration, state: 'registered', reason: undefined, expiresAt: new Date() }
  const up = await reach('up')
  assert.equal(up.registrations[0]?.expires_at, registration.expiresAt?.toISOString())
})
