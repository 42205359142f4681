import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createCallingOrganization } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { addNumber } from '../numbers/edit-numbers.ts'
import { createFindOurNumber } from './our-numbers.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const callerId = '+12025550199'

const add = (organizationId: OrganizationId, number: string) =>
  database.db.transaction((tx) => addNumber(tx, organizationId, number, {}))

test('a number belongs to the organization that shows it, and the caller ID to the one that shows no other', async () => {
  const { db } = database
  const find = createFindOurNumber(callerId)
  const ownerOf = async (text: string, ...e164: string[]) => await find(db, [{ text, e164 }])
  const one = (await createCallingOrganization(db)).organizationId
  assert.deepEqual(await ownerOf(callerId, callerId), { number: callerId, organizationId: one })
  const two = (await createCallingOrganization(db)).organizationId
  assert.equal((await ownerOf(callerId, callerId))?.organizationId, undefined)

  const london = '+442079460018'
  await add(two, london)
  assert.deepEqual(await ownerOf(london, london), { number: london, organizationId: two })
  // In the notation of its country.
  assert.deepEqual(await ownerOf('020 7946 0018'), { number: london, organizationId: two })
  assert.equal((await ownerOf(callerId, callerId))?.organizationId, one)
  assert.equal((await ownerOf('2025550199'))?.organizationId, one)

  await add(one, london)
  assert.deepEqual(await ownerOf(london, london), { number: london, organizationId: undefined })
  assert.equal(await ownerOf('+442079460000', '+442079460000'), undefined)
  assert.equal(await ownerOf('desk'), undefined)
  assert.equal(
    await createFindOurNumber(undefined)(db, [{ text: '1', e164: [callerId] }]),
    undefined,
  )
})

test('the first number of an INVITE that is ours counts', async () => {
  const { db } = database
  const three = (await createCallingOrganization(db)).organizationId
  const [paris, lyon] = ['+33142685300', '+33472000000']
  await add(three, paris)
  await add(three, lyon)
  const find = createFindOurNumber(callerId)
  const written = [
    { text: 'account-7', e164: [] },
    { text: lyon, e164: [lyon] },
    { text: paris, e164: [paris] },
  ]
  assert.equal((await find(db, written))?.number, lyon)
})
