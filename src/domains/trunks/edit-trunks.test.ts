import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { testBox } from '../../../tests/support/trunk-fixtures.ts'
import {
  addTrunk,
  changeTrunk,
  listTrunks,
  pauseTrunk,
  removeTrunk,
  showTrunk,
} from './edit-trunks.ts'
import type { TrunkInput } from './trunk-settings.ts'

let test: TestDatabase
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())

const uris = ['sip:pbx.example']

const add = (name: string, input: Partial<TrunkInput> = {}, password?: string) =>
  test.db.transaction((tx) =>
    addTrunk(tx, testBox, name, { uris, ...input }, password === undefined ? {} : { password }),
  )

it('refuses what cannot be a trunk with its field, its reason and a remedy', async () => {
  const cases: readonly (readonly [string, Partial<TrunkInput>, RegExp])[] = [
    ['env', {}, /env belongs to the trunk of OUTDIAL_SIP_TRUNK: choose another/],
    ['A b', {}, /lower-case letters/],
    ['a', { uris: [] }, /^uris: .*at least one/],
    ['a', { uris: ['sip:user:secret@a'] }, /^uris\[0\]: .*--password-file/],
    ['a', { uris: ['sip:a:70000'] }, /^uris\[0\]: The port/],
    ['a', { uris: ['sip:a\r\nVia: b'] }, /^uris\[0\]/],
    ['a', { uris: ['sip:a', 'sip:a'] }, /^uris: The same URI stands twice/],
    ['a', { headers: ['X-A: b\r\nVia: c'] }, /^headers\[0\]: .*line ends/],
    ['a', { headers: ['X-A: b\u0000'] }, /^headers\[0\]: .*control characters/],
    ['a', { headers: ['v: SIP/2.0/UDP a'] }, /^headers\[0\]: .*belongs to the protocol/],
    ['a', { headers: ['P-Asserted-Identity : <sip:a@b>'] }, /^headers\[0\]/],
    ['a', { headers: ['no header'] }, /^headers\[0\]: .*Name: value/],
    ['a', { from_user: 'a@b' }, /^from_user: /],
    ['a', { from_domain: 'a>b' }, /^from_domain: /],
    ['a', { number_format: 'prefix:' }, /^number_format: It must be plus/],
    ['a', { register: true }, /^register: .*--user/],
    ['a', { countries: ['usa'] }, /^countries/],
    ['a', { channels: 0 }, /^channels: /],
    ['a', { organizations: ['0198f000-0000-7000-8000-000000000001'] }, /no live organization/],
  ]
  for (const [name, input, message] of cases)
    await assert.rejects(add(name, input), (error: Error) => {
      assert.match(error.message, message, JSON.stringify(input))
      return true
    })
  await assert.rejects(add('a', {}, 'secret'), /user: A password needs a user/)
  assert.deepEqual(await listTrunks(test.db, testBox), [])
})

it('keeps the password sealed, never shows it, and keeps what a change does not name', async () => {
  const added = await add(
    'carrier',
    { user: 'acct', priority: 3, headers: ['X-A: 1'] },
    'pass word',
  )
  assert.equal(added.has_password, true)
  const [row] = await execute<{ all: string }>(
    test.db,
    `select t::text || encode(secrets, 'escape') as all from trunks t`,
  )
  assert.ok(!`${row?.all}${JSON.stringify(added)}`.includes('pass word'))
  const changed = await test.db.transaction((tx) =>
    changeTrunk(tx, testBox, 'carrier', { channels: 7 }),
  )
  assert.deepEqual(
    [changed.priority, changed.channels, changed.headers, changed.has_password],
    [3, 7, ['X-A: 1'], true],
  )
  const bare = await test.db.transaction((tx) =>
    changeTrunk(tx, testBox, 'carrier', {}, { password: null }),
  )
  assert.equal(bare.has_password, false)
  await test.db.transaction((tx) => pauseTrunk(tx, testBox, 'carrier', true))
  assert.equal((await showTrunk(test.db, testBox, 'carrier')).state, 'paused')
  await assert.rejects(add('carrier'), /There is a trunk carrier already/)
  await test.db.transaction((tx) => removeTrunk(tx, testBox, 'carrier'))
  await assert.rejects(showTrunk(test.db, testBox, 'carrier'), /There is no trunk carrier/)
})
