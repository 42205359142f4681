import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { testBox } from '../../../tests/support/trunk-fixtures.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { createSecretBox } from '../organizations/secret-box.ts'
import { addProvider, listProviders, removeProvider, type ProviderInput } from './edit-providers.ts'
import { findProvider } from './find-provider.ts'
import { listProviderRows } from './provider-store.ts'

let test: TestDatabase
let mine: OrganizationId
let other: OrganizationId
before(async () => {
  test = await createTestDatabase()
  const made = await test.db.transaction(async (tx) => [
    await createOrganization(tx, { name: 'Mine' }),
    await createOrganization(tx, { name: 'Other' }),
  ])
  ;[mine, other] = made.map(({ id }) => id) as [OrganizationId, OrganizationId]
})
after(() => test.drop())

const add = (input: Partial<ProviderInput>, organizationId: OrganizationId | null = null) =>
  test.db.transaction((tx) =>
    addProvider(tx, testBox, organizationId, { name: 'a', kind: 'deepgram-stt', ...input }),
  )

const find = async (organizationId: OrganizationId, name: string) =>
  findProvider(await listProviderRows(test.db), testBox, organizationId, name)

/** The sentence of a provider that cannot be used. */
const problemOf = (found: ReturnType<typeof findProvider>): string =>
  typeof found === 'string' ? found : assert.fail('it can be used')

it('refuses what cannot be a provider with its field and its reason', async () => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ name: 'env' }, /^name: .*environment/],
    [{ name: 'A b' }, /^name: /],
    [{ kind: 'magic' }, /^kind: /],
    [{ url: 'file:///etc/passwd' }, /^url: .*ws, wss, http or https/],
    [{ url: 'wss://user:secret@a.example' }, /^url: .*no user and password/],
    [{ key: '' }, /^key: .*check the file/],
    [{ key: 'two\nlines' }, /^key: .*one line/],
  ]
  for (const [input, problem] of cases)
    await assert.rejects(add(input), (error: Error) => {
      assert.match(error.message, problem)
      assert.ok(!error.message.includes('secret'))
      return true
    })
})

it('keeps a key sealed, and never shows it', async () => {
  const shown = await add({ name: 'sealed', key: 'dg-secret-key' })
  assert.equal(shown.has_key, true)
  assert.ok(!JSON.stringify(await listProviders(test.db)).includes('dg-secret-key'))
  const row = (await listProviderRows(test.db)).find(({ name }) => name === 'sealed')
  assert.ok(row?.key && !row.key.includes('dg-secret-key'))
  const found = await find(mine, 'sealed')
  assert.ok(typeof found === 'object' && found.key === 'dg-secret-key')
})

it("opens no key that was moved to another provider's row", async () => {
  await add({ name: 'moved', key: 'one' })
  await add({ name: 'thief' })
  await execute(
    test.db,
    `update providers set key = (select key from providers where name = 'moved') where name = 'thief'`,
  )
  assert.match(problemOf(await find(mine, 'thief')), /enter it again/)
})

it('says how to mend a key of another installation', async () => {
  await add({ name: 'foreign', key: 'one' })
  const box = createSecretBox({
    secretKey: Buffer.alloc(32, 9).toString('base64'),
    dataFolder: '/',
  })
  const found = findProvider(await listProviderRows(test.db), box, mine, 'foreign')
  assert.match(problemOf(found), /encrypted with another key: set OUTDIAL_SECRET_KEY/)
})

it("gives an organization its own provider before the installation's, and never another's", async () => {
  await add({ name: 'both', model: 'nova-3' })
  await add({ name: 'both', model: 'nova-2' }, mine)
  await add({ name: 'only' }, mine)
  const modelOf = async (organizationId: OrganizationId): Promise<string | undefined> => {
    const found = await find(organizationId, 'both')
    return typeof found === 'object' ? found.model : found
  }
  assert.equal(await modelOf(mine), 'nova-2')
  assert.equal(await modelOf(other), 'nova-3')
  assert.match(problemOf(await find(other, 'only')), /no provider only: add it with provider add/)
  const names = (await listProviders(test.db, other)).map(({ name }) => name)
  assert.ok(!names.includes('only') && names.includes('both'))
})

it('takes a name once in each scope, and removes it there only', async () => {
  await add({ name: 'twice' })
  await assert.rejects(add({ name: 'twice' }), /a provider twice already/)
  await add({ name: 'twice' }, mine)
  const remove = (organizationId: OrganizationId | null): Promise<void> =>
    test.db.transaction((tx) => removeProvider(tx, organizationId, 'twice'))
  await remove(mine)
  assert.equal(typeof (await find(mine, 'twice')), 'object')
  await assert.rejects(remove(mine), /no provider twice of this organization: provider list/)
  await remove(null)
  assert.equal(typeof (await find(mine, 'twice')), 'string')
})
