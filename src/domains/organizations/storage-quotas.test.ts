import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import {
  createOrganizationFixture,
  type OrganizationFixture,
} from '../../../tests/support/organization-fixture.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { checkQuotas } from './quotas.ts'
import { setOrganization } from './set-organization.ts'
import { countKept } from './storage-quota-store.ts'
import { createStorageQuotas } from './storage-quotas.ts'

let database: TestDatabase
let ours: OrganizationFixture
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())
beforeEach(async () => {
  ours = await createOrganizationFixture(database.db)
})

const quota = (quotas: Readonly<Record<string, number>>) =>
  database.db.transaction((tx) => setOrganization(tx, ours.organizationId, { quotas }))
const clock = createManualTime(new Date('2026-07-16T08:00:00Z'))
const addContacts = (count: number) =>
  database.db.run(
    {
      name: 'test.contacts',
      text: `insert into contacts (organization_id, id, source, name, phone_number)
             select $1, gen_random_uuid(), 's', 'n', '+1202555' || to_char((random() * 1e9)::bigint + n, 'FM0000000000')
               from generate_series(1, $2::int) as n`,
    },
    [ours.organizationId, count],
  )
const refused = { code: 'rate_limit_exceeded', status: 429, retryAfterSeconds: 3600 }

test('the free space is what the quota leaves, counted once and then reduced in memory', async () => {
  const organization = await quota({ contacts: 5 })
  assert.deepEqual(organization.quotas, { contacts: 5 })
  await addContacts(2)
  const quotas = createStorageQuotas({ database: database.db, clock })
  await quotas.prepare(ours.organizationId)
  assert.equal(quotas.prepare(ours.organizationId), undefined, 'no second count')
  quotas.take(ours.organizationId, 'contacts', 2)
  assert.throws(() => quotas.take(ours.organizationId, 'contacts', 2), {
    ...refused,
    message:
      'Your organization keeps at most 5 contacts (quota contacts). The operator can raise it.',
  })
  quotas.take(ours.organizationId, 'contacts', 1)
  assert.throws(() => quotas.take(ours.organizationId, 'contacts', 1), refused)
  quotas.take(ours.organizationId, 'batches', 1)
})

test('a full organization is counted again after five seconds, any other after a minute', async () => {
  await quota({ contacts: 2 })
  await addContacts(1)
  const quotas = createStorageQuotas({ database: database.db, clock })
  await quotas.prepare(ours.organizationId)
  assert.throws(() => quotas.take(ours.organizationId, 'contacts', 2), refused)
  await quota({ contacts: 10 })
  assert.equal(quotas.prepare(ours.organizationId), undefined)
  clock.advance(5_000)
  await quotas.prepare(ours.organizationId)
  quotas.take(ours.organizationId, 'contacts', 9)
  clock.advance(59_000)
  assert.equal(quotas.prepare(ours.organizationId), undefined)
  clock.advance(1_000)
  assert.ok(quotas.prepare(ours.organizationId) instanceof Promise)
})

test('many simultaneous requests wait for one count', async () => {
  const quotas = createStorageQuotas({ database: database.db, clock })
  const first = quotas.prepare(ours.organizationId)
  assert.ok(first instanceof Promise)
  assert.equal(quotas.prepare(ours.organizationId), first)
  await first
})

test('no count goes beyond its quota', async () => {
  await addContacts(20)
  const limits = { contacts: 7, batches: 7, recipients: 7, idempotency_answers: 7 }
  const { contacts, batches } = await countKept(database.db, ours.organizationId, limits)
  assert.deepEqual([contacts, batches], [7, 0])
})

test('an unknown quota, or an impossible number, is refused', () => {
  assert.throws(() => checkQuotas({ calls: 1 }), /no quota "calls": it is one of contacts/)
  assert.throws(() => checkQuotas({ contacts: 0 }), /whole number from 1/)
})
