import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import pg from 'pg'
import {
  createCallingOrganization,
  execute,
  openTrunk,
  queueCalls,
  untilBlocked,
} from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'

let test: TestDatabase

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

it('wakes dispatch that goes to sleep while another transaction releases the organization', async () => {
  await openTrunk(test.db)
  const organization = await createCallingOrganization(test.db)
  const { organizationId } = organization
  await queueCalls(test.db, organization, 1)
  const [other, dispatch] = [new pg.Client(test.connection), new pg.Client(test.connection)]
  await Promise.all([other.connect(), dispatch.connect()])
  const row = 'from dispatch_organizations where organization_id = $1'
  const values = [organizationId]
  try {
    await other.query('begin')
    await other.query(`select ${row} for key share`, values)
    await dispatch.query('begin')
    await dispatch.query(`select ${row} for no key update`, values)
    await dispatch.query(
      `update dispatch_organizations set virtual_time = 1 where organization_id = $1`,
      values,
    )
    await other.query('commit')
    await dispatch.query(`select ${row} for update skip locked`, values)
    await dispatch.query(
      `update dispatch_organizations set ready = false, wake_at = 'infinity' where organization_id = $1`,
      values,
    )
    const placing = queueCalls(test.db, organization, 1)
    await untilBlocked(test.db)
    await dispatch.query('commit')
    await placing
  } finally {
    await Promise.all([other.end(), dispatch.end()])
  }
  const [after] = await execute<{ ready: boolean }>(test.db, `select ready ${row}`, values)
  assert.equal(after?.ready, true)
})
