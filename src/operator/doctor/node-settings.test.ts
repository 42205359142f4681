import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { readConfig } from '../../config/read-config.ts'
import { takeLease } from '../../dispatch/lease/lease.ts'
import { systemTime } from '../../runtime/time.ts'
import { checkNodeSettings, nodeSettings } from './node-settings.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const service = readConfig({
  OUTDIAL_API_PORT: '4700',
  OUTDIAL_DASHBOARD_PORT: '4701',
  OUTDIAL_PUBLIC_DASHBOARD_URL: 'https://calls.example.com',
  OUTDIAL_SIP_TRUNK: 'sip:user:geheim@trunk.example.com:5080',
  OUTDIAL_CALLER_ID: '+12025550123',
})

test('no secret of the trunk is kept', () => {
  const kept = nodeSettings(service)
  assert.equal(kept['OUTDIAL_SIP_TRUNK'], 'trunk.example.com:5080')
  assert.doesNotMatch(JSON.stringify(kept), /geheim|user/)
})

test('doctor in another environment than the running node names the settings that differ', async () => {
  const offer = { name: `${hostname()}-1`, maxChannels: 5, routes: [], lacks: [] }
  const settings = nodeSettings(service)
  assert.deepEqual(await checkNodeSettings(readConfig({}), database.db), [])
  const lease = await takeLease(database.db, { ...offer, settings }, systemTime)
  assert.deepEqual(await checkNodeSettings(service, database.db), [])
  const [finding, ...more] = await checkNodeSettings(readConfig({}), database.db)
  assert.deepEqual(more, [])
  assert.equal(finding?.status, 'warning')
  assert.match(
    finding.message,
    /^The node \S+-1 runs with another OUTDIAL_API_PORT, OUTDIAL_CALLER_ID, OUTDIAL_DASHBOARD_PORT, OUTDIAL_PUBLIC_DASHBOARD_URL, OUTDIAL_SIP_TRUNK than/,
  )
  assert.doesNotMatch(finding.message, /geheim/)
  await lease.release()
  assert.deepEqual(await checkNodeSettings(readConfig({}), database.db), [])
})
