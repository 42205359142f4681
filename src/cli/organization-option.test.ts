import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { captureCli } from '../../tests/support/cli/capture-cli.ts'
import { createBatchFixture, type BatchFixture } from '../../tests/support/batch-fixture.ts'
import { clearOrganizations, openTrunk } from '../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import type { Call } from '../contract/calls.ts'
import { commandGroups } from './commands.ts'

/** Without `--org`: taken from an id's owner, or the only organization. */

let database: TestDatabase
let tenant: BatchFixture

before(async () => {
  database = await createTestDatabase()
  await openTrunk(database.db)
})
after(() => database.drop())
beforeEach(async () => {
  await clearOrganizations(database.db)
  tenant = await createBatchFixture(database.db)
})

const outdial = (...args: readonly string[]) => captureCli(args, commandGroups, { db: database.db })

const idOf = (document: string): string => (JSON.parse(document) as { id: string }).id

const dial = async (): Promise<string> => {
  const dialled = await outdial('dial', '+12025550101', '--agent', tenant.agentId, '--json')
  assert.equal(dialled.status, 0, dialled.stderr)
  return idOf(dialled.stdout)
}

test('the only organization is used when none is named', async () => {
  const call = await dial()
  const listed = await outdial('call', 'list', '--json')
  assert.equal(listed.status, 0, listed.stderr)
  assert.deepEqual(
    (JSON.parse(listed.stdout) as Call[]).map(({ id }) => id),
    [call],
  )
  for (const command of ['batch', 'contact', 'run', 'recording', 'key', 'dnc'])
    assert.equal((await outdial(command, 'list')).status, 0, command)
})

test('with several organizations one must be named, and the refusal names the command that lists them', async () => {
  await createBatchFixture(database.db)
  for (const command of ['call', 'batch', 'contact', 'run', 'recording', 'key', 'dnc']) {
    const refused = await outdial(command, 'list')
    assert.equal(refused.status, 2, command)
    assert.match(refused.stderr, /--org.*there are 2.*`\.\/outdial org list`/)
  }
})

test('an id determines its organization, in an installation of several', async () => {
  const other = await createBatchFixture(database.db)
  const call = await dial()
  const shown = await outdial('call', 'show', call, '--json')
  const { contact_id: contact } = JSON.parse(shown.stdout) as Call
  assert.equal(idOf((await outdial('contact', 'show', contact, '--json')).stdout), contact)
  const cancelled = await outdial('call', 'cancel', call)
  assert.equal(cancelled.stdout, `Call ${call} is cancelled.`)
  const foreign = await outdial('contact', 'show', contact, '--org', other.organizationId)
  assert.equal(foreign.status, 1)
})

test('an unknown id is refused with its value', async () => {
  await createBatchFixture(database.db)
  for (const [command, what] of [
    ['batch', 'batch'],
    ['run', 'run'],
    ['contact', 'contact'],
    ['call', 'call'],
  ] as const)
    for (const id of [tenant.agentId, 'no-id']) {
      const refused = await outdial(command, 'show', id)
      assert.deepEqual(refused, { status: 1, stdout: '', stderr: `There is no ${what} ${id}.` })
    }
})
