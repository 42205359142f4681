import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { sql } from '../database/database.ts'
import { createOrganization } from '../domains/organizations/create-organization.ts'
import { newId } from '../runtime/ids.ts'
import { purgeExpiredIdentity } from './purge-expired.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const seeds = {
  account_sessions: `insert into account_sessions (id, token, user_id, expires_at)
    values (gen_random_uuid(), $1, $2, now() + $3::interval)`,
  account_verifications: `insert into account_verifications (id, identifier, value, expires_at)
    values (gen_random_uuid(), $1, $2::uuid, now() + $3::interval)`,
  invitations: `insert into invitations (organization_id, id, email, role, secret_hash, expires_at)
    values ($2, gen_random_uuid(), $1, 'viewer', sha256($1::text::bytea), now() + $3::interval)`,
  // A window of ten minutes ends ten minutes after it began.
  sign_in_attempts: `insert into sign_in_attempts (key, attempts, started_at)
    select sha256($1::text::bytea), 1, now() - interval '10 minutes' + $3::interval where $2::uuid is not null`,
} as const

test('what is over is deleted, in steps, and what still counts is kept', async () => {
  const { db } = database
  const { id: organizationId } = await createOrganization(db, { name: 'Purged' })
  const accountId = newId()
  await db.run(
    sql('test.account', `insert into accounts (id, name, email) values ($1, 'A', 'a@b.test')`),
    [accountId],
  )
  const count = async (table: string): Promise<number> => {
    const row = await db.row<{ n: number }>(
      sql(`test.count.${table}`, `select count(*)::int as n from ${table}`),
      [],
    )
    return row?.n ?? Number.NaN
  }
  for (const [table, text] of Object.entries(seeds)) {
    const owner = table === 'invitations' ? organizationId : accountId
    const seed = sql(`test.seed.${table}`, text)
    for (const [name, interval] of [
      ['a', '-1 second'],
      ['b', '-9 days'],
      ['c', '-1 minute'],
      ['d', '1 minute'],
    ])
      await db.run(seed, [`${table}-${name}`, owner, interval])
  }
  assert.equal(await purgeExpiredIdentity(db, 2), 2)
  for (const table of Object.keys(seeds)) assert.equal(await count(table), 2, table)
  assert.equal(await purgeExpiredIdentity(db, 2), 1)
  assert.equal(await purgeExpiredIdentity(db, 2), 0)
  for (const table of Object.keys(seeds)) assert.equal(await count(table), 1, table)
})
