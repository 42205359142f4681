import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { Database } from '../../database/database.ts'
import { hashApiKey, makeApiKey } from './api-key-format.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { createApiKey } from './create-api-key.ts'
import { createPrincipals, type Principals } from './principals.ts'

let testDatabase: TestDatabase
let organizationId: OrganizationId
let asked: string[]
let clock: ReturnType<typeof createManualTime>
let principals: Principals

before(async () => {
  testDatabase = await createTestDatabase()
  organizationId = (await createOrganization(testDatabase.db, { name: 'A' })).id
})
after(() => testDatabase.drop())

beforeEach(() => {
  asked = []
  const { db } = testDatabase
  const counting: Database = {
    ...db,
    row: ((...call: Parameters<Database['row']>) => {
      asked.push(call[0].name)
      return db.row(...call)
    }) as Database['row'],
    rows: ((...call: Parameters<Database['rows']>) => {
      asked.push(call[0].name)
      return db.rows(...call)
    }) as Database['rows'],
  }
  clock = createManualTime(new Date('2026-07-16T08:00:00Z'))
  principals = createPrincipals({ database: counting, clock, logger: silentLogger })
})

const invent = (): Buffer => hashApiKey(makeApiKey().secret)
const make = async (): Promise<Buffer> =>
  hashApiKey(
    (await createApiKey(testDatabase.db, { organizationId, name: 'K', scopes: 'all' })).secret,
  )
const heldUp = () => true

test('a thousand invented keys at once cost a few look-ups, and a genuine one among them is served', async () => {
  const genuine = await make()
  const invented = Array.from({ length: 1_000 }, invent)
  const found = await Promise.all([
    ...invented.map((hash) => principals.findPrincipal(hash)),
    principals.findPrincipal(genuine),
  ])
  assert.equal(found.filter(Boolean).length, 1)
  assert.ok(found.at(-1))
  assert.ok(asked.length <= 4, asked.join(' '))
})

test('an invented key is looked up from time to time, not each time', async () => {
  const hash = invent()
  assert.equal(await principals.findPrincipal(hash), undefined)
  assert.equal(await principals.findPrincipal(hash), undefined)
  assert.equal(asked.length, 1)
  clock.advance(10_000)
  assert.equal(await principals.findPrincipal(hash), undefined)
  assert.equal(asked.length, 2)
})

test('from a client over the limit no invented key is looked up, and every genuine one is served', async () => {
  const known = await make()
  await principals.start()
  asked = []
  const made = await make()
  const invented = Array.from({ length: 500 }, invent)
  const [found, ...none] = await Promise.all([
    principals.findPrincipal(made, heldUp),
    ...invented.map((hash) => principals.findPrincipal(hash, heldUp)),
  ])
  assert.ok(found, 'a key that was made meanwhile')
  assert.ok(none.every((each) => each === undefined))
  assert.ok(!asked.includes('stranger-keys.findExisting'))
  assert.ok(asked.filter((name) => name === 'stranger-keys.listNewest').length <= 2)
  asked = []
  assert.ok(await principals.findPrincipal(known, heldUp), 'a key that was known')
  assert.deepEqual(asked, ['principal-store.readPrincipal'])
  await principals.stop()
})
