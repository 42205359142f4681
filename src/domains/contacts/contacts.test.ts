import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../../contract/api-error.ts'
import { contact as contactSchema, type ContactInput } from '../../contract/contacts.ts'
import type { Transaction } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import { contactBody, contextOf } from '../../../tests/support/organization-fixture.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { getContact } from './get-contact.ts'
import { listContacts } from './list-contacts.ts'
import { findOrMakeManualContact } from './manual-contact.ts'
import { upsertContact } from './upsert-contact.ts'

let test: TestDatabase
let organizationId: OrganizationId
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  organizationId = (await createOrganization(test.db, { name: 'A' })).id
})

const upsertIn = (organization: OrganizationId, members: Partial<ContactInput>) =>
  test.db.transaction((tx: Transaction) =>
    upsertContact(
      { params: {}, query: {}, body: contactBody(members) },
      contextOf(tx, organization),
    ),
  )
const upsert = (members: Partial<ContactInput>) => upsertIn(organizationId, members)
const dial = (phoneNumber: string) =>
  test.db.transaction((tx: Transaction) => findOrMakeManualContact(tx, organizationId, phoneNumber))
const get = (id: string, organization = organizationId) =>
  getContact({ params: { contact_id: id }, query: {}, body: {} }, contextOf(test.db, organization))
const list = (query: Partial<Parameters<typeof listContacts>[0]['query']> = {}) =>
  listContacts(
    { params: {}, query: { limit: 20, ...query }, body: {} },
    contextOf(test.db, organizationId),
  )
const waiting = {
  name: 'test.waiting',
  text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
}
/** Resolves once a statement of this database waits for another transaction. */
const untilSomebodyWaitsForALock = async (): Promise<void> => {
  const deadline = performance.now() + 30_000
  while ((await test.db.row(waiting, [])) === undefined) {
    assert.ok(performance.now() < deadline, 'nobody waited for a lock')
    await setImmediate()
  }
}
const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'contact_identity_conflict'

describe('POST /contacts', () => {
  it('creates a contact for a new identity and number', async () => {
    const { status, body } = await upsert({ external_id: 'a', company: '', email: 'a@b.example' })
    assert.equal(status, 201)
    assert.deepEqual(contactSchema.parse(body), body)
    assert.equal(body.source, 'public_api')
    assert.equal(body.company, '')
    assert.equal('city' in body, false)
    assert.deepEqual(await get(body.id), body)
  })

  it('updates: omitted fields stay, empty ones are cleared', async () => {
    const made = await upsert({ external_id: 'a', company: 'Acme', city: 'Paris', role: 'CTO' })
    const { status, body } = await upsert({ external_id: 'a', name: 'Grace', company: '' })
    assert.equal(status, 200)
    assert.equal(body.id, made.body.id)
    assert.deepEqual([body.name, body.company, body.city, body.role], ['Grace', '', 'Paris', 'CTO'])
    assert.equal(body.created_at, made.body.created_at)
    assert.ok(body.updated_at >= made.body.updated_at)
  })

  it('moves a contact to a new number', async () => {
    const made = await upsert({ external_id: 'a', phone_number: '+12025550101', city: 'Paris' })
    const moved = await upsert({ external_id: 'a', phone_number: '+12025550102' })
    assert.deepEqual(
      [moved.status, moved.body.id, moved.body.phone_number, moved.body.city],
      [200, made.body.id, '+12025550102', 'Paris'],
    )
    assert.equal((await upsert({ external_id: 'b', phone_number: '+12025550101' })).status, 201)
  })

  it('refuses a number that belongs to another identity', async () => {
    await upsert({ external_id: 'a', phone_number: '+12025550101' })
    await upsert({ external_id: 'b', phone_number: '+12025550102' })
    await assert.rejects(upsert({ external_id: 'a', phone_number: '+12025550102' }), isConflict)
    await assert.rejects(upsert({ external_id: 'c', phone_number: '+12025550102' }), {
      code: 'contact_identity_conflict',
      message:
        'The phone number belongs to the contact with source "public_api" and external_id "b", not to source "public_api" and external_id "c".',
    })
    const { data } = await list()
    assert.deepEqual(
      data.map(({ external_id, phone_number }) => [external_id, phone_number]),
      [
        ['b', '+12025550102'],
        ['a', '+12025550101'],
      ],
    )
  })

  it('takes the same external id from another source for another person', async () => {
    await upsert({ external_id: 'a', phone_number: '+12025550101' })
    const other = { external_id: 'a', source: 'crm', phone_number: '+12025550102' }
    assert.equal((await upsert(other)).status, 201)
    await assert.rejects(upsert({ ...other, phone_number: '+12025550101' }), isConflict)
  })

  it('adopts a contact made by a manual call and keeps its id', async () => {
    const manual = await dial('+12025550103')
    const { status, body } = await upsert({ external_id: 'a', phone_number: '+12025550103' })
    assert.deepEqual(
      [status, body.id, body.source, body.external_id, body.name],
      [200, manual.id, 'public_api', 'a', 'Ada'],
    )
    await assert.rejects(upsert({ external_id: 'b', phone_number: '+12025550103' }), isConflict)
  })

  it('does not adopt for an identity with a contact: its number belongs to two', async () => {
    await upsert({ external_id: 'a', phone_number: '+12025550101' })
    await dial('+12025550103')
    await assert.rejects(upsert({ external_id: 'a', phone_number: '+12025550103' }), isConflict)
  })

  it('keeps organizations apart: the same identity and number are another contact', async () => {
    const other = (await createOrganization(test.db, { name: 'B' })).id
    const ours = await upsert({ external_id: 'a' })
    const theirs = await upsertIn(other, { external_id: 'a' })
    assert.equal(theirs.status, 201)
    assert.notEqual(theirs.body.id, ours.body.id)
    await assert.rejects(get(theirs.body.id), { code: 'resource_not_found' })
    assert.deepEqual((await list()).data, [ours.body])
  })
})

describe('POST /contacts, many at once', () => {
  it('gives one contact to 200 identical requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => upsert({ external_id: 'a' })),
    )
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
  })

  it('updates a contact that another transaction created and had not committed yet', async () => {
    const created = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const first = test.db.transaction(async (tx) => {
      const input = {
        params: {},
        query: {},
        body: contactBody({ external_id: 'a', name: 'First' }),
      }
      const answer = await upsertContact(input, contextOf(tx, organizationId))
      created.resolve()
      await mayCommit.promise
      return answer
    })
    await created.promise
    const second = upsert({ external_id: 'a', name: 'Second' })
    await untilSomebodyWaitsForALock()
    mayCommit.resolve()
    const [made, updated] = await Promise.all([first, second])
    assert.deepEqual([made.status, updated.status], [201, 200])
    assert.deepEqual([updated.body.id, updated.body.name], [made.body.id, 'Second'])
  })

  it('refuses a number that another transaction took and had not committed yet', async () => {
    await upsert({ external_id: 'a', phone_number: '+12025550101' })
    const taken = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const rival = { external_id: 'b', phone_number: '+12025550102' }
    const first = test.db.transaction(async (tx) => {
      const input = { params: {}, query: {}, body: contactBody(rival) }
      await upsertContact(input, contextOf(tx, organizationId))
      taken.resolve()
      await mayCommit.promise
    })
    await taken.promise
    const moved = upsert({ external_id: 'a', phone_number: '+12025550102' })
    const refused = assert.rejects(moved, isConflict)
    await untilSomebodyWaitsForALock()
    mayCommit.resolve()
    await Promise.all([first, refused])
  })

  it('adopts once when 200 identities want one manual contact', async () => {
    const manual = await dial('+12025550104')
    const answers = await Promise.allSettled(
      Array.from({ length: 200 }, (_, index) =>
        upsert({ external_id: `rival-${index}`, phone_number: '+12025550104' }),
      ),
    )
    const won = answers.filter((answer) => answer.status === 'fulfilled')
    assert.deepEqual(
      won.map(({ value }) => [value.status, value.body.id]),
      [[200, manual.id]],
    )
    assert.ok(answers.every((answer) => answer.status === 'fulfilled' || isConflict(answer.reason)))
  })

  it('responds to 400 overlapping requests with success or a conflict, never with a fault', async () => {
    const identities = 7
    const numbers = 11
    await Promise.all([dial('+12025551000'), dial('+12025551003')])
    const answers = await Promise.allSettled(
      Array.from({ length: 400 }, (_, index) =>
        upsert({
          external_id: `overlap-${(index * 5) % identities}`,
          phone_number: `+1202555${1000 + ((index * 3) % numbers)}`,
        }),
      ),
    )
    const faults = answers.filter(
      (answer) => answer.status === 'rejected' && !isConflict(answer.reason),
    )
    assert.deepEqual(faults, [])
    const { data } = await list({ limit: 100 })
    const managed = data.filter((contact) => contact.external_id !== undefined)
    assert.equal(managed.length, identities)
    assert.equal(new Set(data.map(({ phone_number }) => phone_number)).size, data.length)
  })

  it('creates one manual contact for simultaneous dials of its number', async () => {
    const contacts = await Promise.all(Array.from({ length: 50 }, () => dial('+12025550105')))
    assert.equal(new Set(contacts.map(({ id }) => id)).size, 1)
    assert.deepEqual(
      [contacts[0]?.source, contacts[0]?.external_id, contacts[0]?.name],
      ['manual_dial', null, '+12025550105'],
    )
  })
})

describe('GET /contacts', () => {
  const fill = async (count: number): Promise<string[]> => {
    const ids: string[] = []
    for (let index = 0; index < count; index += 1) {
      const number = `+1202555${1000 + index}`
      ids.unshift((await upsert({ external_id: `c-${index}`, phone_number: number })).body.id)
    }
    return ids
  }

  it('pages newest first without a gap, for any limit', async () => {
    const ids = await fill(7)
    for (const limit of [1, 2, 3, 7, 100]) {
      const seen: string[] = []
      let cursor: Awaited<ReturnType<typeof list>>['next'] | undefined
      do {
        const page = await list({ limit, ...(cursor && { cursor }) })
        assert.ok(page.data.length <= limit)
        seen.push(...page.data.map(({ id }) => id))
        cursor = page.next
      } while (cursor)
      assert.deepEqual(seen, ids)
    }
  })

  it('pages over contacts that were created in the same microsecond', async () => {
    const ids = await fill(5)
    const align = {
      name: 'test.align',
      text: `update contacts set created_at = '2026-07-16T08:00:00.123456Z' where organization_id = $1`,
    }
    await test.db.run(align, [organizationId])
    const first = await list({ limit: 2 })
    assert.equal(first.next?.sort, '2026-07-16T08:00:00.123456Z')
    const second = await list({ limit: 3, cursor: first.next ?? undefined })
    assert.equal(second.next, null)
    assert.deepEqual(
      [...first.data, ...second.data].map(({ id }) => id),
      ids.toSorted().reverse(),
    )
  })

  it('filters by identity and by time, from inclusive to exclusive', async () => {
    const [newest, , oldest] = await fill(3)
    assert.ok(newest !== undefined && oldest !== undefined)
    const setTime = {
      name: 'test.set-time',
      text: `update contacts set created_at = $3 where organization_id = $1 and id = $2`,
    }
    await test.db.run(setTime, [organizationId, oldest, '2026-01-01T00:00:00Z'])
    await test.db.run(setTime, [organizationId, newest, '2026-02-01T00:00:00Z'])
    const ids = async (query: Parameters<typeof list>[0]) =>
      (await list(query)).data.map(({ id }) => id)
    const january = {
      created_after: '2026-01-01T00:00:00.000000Z',
      created_before: '2026-02-01T00:00:00.000000Z',
    }
    assert.deepEqual(await ids(january), [oldest])
    assert.deepEqual(await ids({ external_id: 'c-2' }), [newest])
    assert.deepEqual(await ids({ external_id: 'c-2', source: 'crm' }), [])
    assert.deepEqual(await ids({ external_id: 'c-2', ...january }), [])
  })

  it('shows a contact of a manual call without an external id', async () => {
    await dial('+12025550106')
    const { data } = await list({ source: 'manual_dial' })
    assert.equal(data.length, 1)
    assert.equal('external_id' in (data[0] ?? {}), false)
    assert.deepEqual(contactSchema.array().parse(data), data)
  })
})

describe('GET /contacts/{contact_id}', () => {
  for (const id of [newId(), 'x', '', "'; drop table contacts", newId().toUpperCase()]) {
    it(`finds no contact ${JSON.stringify(id.slice(0, 12))}`, () =>
      assert.rejects(get(id), { code: 'resource_not_found' }))
  }
})
