import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { contactBody, contextOf } from '../../../tests/support/organization-fixture.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { watchDatabase } from '../../../tests/support/watched-database.ts'
import type { ContactInput } from '../../contract/contacts.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { openDatabase } from '../../database/open-database.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { deleteContact } from './contact-store.ts'
import { findContacts } from './find-contacts.ts'
import { upsertContact } from './upsert-contact.ts'

let database: TestDatabase
let organizationId: OrganizationId
before(async () => {
  database = await createTestDatabase()
  organizationId = (await createOrganization(database.db, { name: 'A' })).id
})
after(() => database.drop())

const upsert = async (
  members: Partial<ContactInput>,
  organization = organizationId,
): Promise<string> => {
  const input = { params: {}, query: {}, body: contactBody(members) }
  const { body } = await database.db.transaction((tx) =>
    upsertContact(input, contextOf(tx, organization)),
  )
  return body.id
}

const found = async (question: string, organization = organizationId): Promise<string[]> => {
  const rows = await findContacts(database.db, organization, question, 10)
  return rows.map(({ external_id: id }) => id ?? '')
}

test('contacts are found by beginnings of words and parts of their number, newest first', async () => {
  await upsert({ external_id: 'crm-1842', name: 'Ada Lovelace', phone_number: '+12025550101' })
  await upsert({
    external_id: 'x 7',
    name: "Zoë O'Brien-Müller",
    phone_number: '+4930901820123',
    company: 'Ärzte & Söhne',
  })
  await upsert({ external_id: 'second', name: 'ADA Byron', phone_number: '+12025550102' })
  const questions: Readonly<Record<string, readonly string[]>> = {
    ada: ['second', 'crm-1842'],
    'ADA love': ['crm-1842'],
    'lace ada': [],
    'byr ad': ['second'],
    crm: ['crm-1842'],
    'crm-1842': ['crm-1842'],
    '184': ['crm-1842'],
    zoe: ['x 7'],
    ZOË: ['x 7'],
    "o'b": ['x 7'],
    muller: ['x 7'],
    'arzte soh': ['x 7'],
    '+12025550101': ['crm-1842'],
    '(202) 555-0101': ['crm-1842'],
    '+1 202': ['second', 'crm-1842'],
    '0101': ['crm-1842'],
    '5550102': ['second'],
    '030 901820': ['x 7'],
    '+49 30 9018': ['x 7'],
    nobody: [],
    // Neither an operator of a question to the index, nor a pattern.
    "a' | 'b": ['second', 'x 7'],
    'ada & !byron': ['second'],
    'ad%': ['second', 'crm-1842'],
    '…': [],
    '---': [],
    '\\': [],
    ':*': [],
  }
  for (const [question, expected] of Object.entries(questions))
    assert.deepEqual(await found(question), expected, question)
})

test('a contact is found as it is now, and not once it is gone', async () => {
  const id = await upsert({
    external_id: 'now',
    name: 'Grace Hopper',
    phone_number: '+12025550111',
  })
  assert.deepEqual(await found('grace'), ['now'])
  await upsert({
    external_id: 'now',
    name: 'Joan Clarke',
    phone_number: '+12025550112',
    company: 'Bletchley',
  })
  assert.deepEqual(await found('grace'), [])
  assert.deepEqual(await found('5550111'), [])
  assert.deepEqual(await found('clarke bletch'), ['now'])
  await database.db.transaction((tx) => deleteContact(tx, organizationId, id))
  assert.deepEqual(await found('clarke'), [])
  const [kept] = await execute<{ count: string }>(
    database.db,
    `select count(*)::text from contact_search where contact_id = '${id}'`,
  )
  assert.equal(kept?.count, '0')
})

test('contacts of another organization are not found', async () => {
  const { id: other } = await createOrganization(database.db, { name: 'B' })
  await upsert({ external_id: 'there', name: 'Lovelace too', phone_number: '+12025550101' }, other)
  assert.deepEqual(await found('lovelace', other), ['there'])
  assert.deepEqual(await found('lovelace'), ['crm-1842'])
})

test('long and odd texts neither fail nor cost much', async () => {
  const name = 'a b '.repeat(63)
  const company = 'é'.repeat(255)
  await upsert({
    external_id: '\u{1F600}'.repeat(255),
    name,
    phone_number: '+12025550199',
    company,
  })
  assert.equal((await found('eeee')).length, 1)
  assert.deepEqual(await found('q w e r t y '.repeat(8)), [])
  assert.equal((await found('a b a b a b a b a b')).length, 3)
})

/** Contacts of which each thousandth is called Rare, all of them Common. */
const many = 30_000
/** The newest ones are looked up one by one: four pages each. */
const maxPages = 6_000

test('a search reads the newest contacts and what fits, never all, without statistics', async () => {
  const { id } = await createOrganization(database.db, { name: 'Large' })
  await database.db.transaction(async (tx) => {
    await execute(tx, 'set local session_replication_role = replica')
    await execute(
      tx,
      `insert into contacts (organization_id, id, source, external_id, name, phone_number, created_at)
       select $1, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'crm', 'c' || n,
              'Common ' || case when n % 1000 = 7 then 'Rare' else 'Usual' end, '+1303' || (2000000 + n),
              now() - n * interval '1 second'
         from generate_series(1, ${many}) n`,
      [id],
    )
    await execute(
      tx,
      `insert into contact_search (contact_id, organization_id, words)
       select id, organization_id, contact_words(organization_id, name, company, external_id, phone_number)
         from contacts where organization_id = $1`,
      [id],
    )
  })
  const { connection } = database
  const db = watchDatabase(openDatabase({ connection, logger: silentLogger, maxConnections: 1 }))
  for (const [question, count] of [
    ['common', 10],
    ['rare', 10],
    ['rare c29007', 1],
    ['2029999', 1],
    ['missing', 0],
  ] as const) {
    const rows = await findContacts(db, id, question, 10)
    assert.equal(rows.length, count, question)
    const times = rows.map(({ created_at: at }) => at.getTime())
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
    )
  }
  const look = db.looks.get('find-contacts.findContacts')
  assert.ok(look && look.pages < maxPages, `${look?.pages} pages`)
  await db.stop()
})
