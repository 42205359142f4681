import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { readConfig } from '../config/read-config.ts'
import { sql } from '../database/database.ts'
import { createOrganization } from '../domains/organizations/create-organization.ts'
import { commandGroups } from './commands.ts'
import { runCli } from './run-cli.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** The JSON that a command prints. */
const outdial = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
  const stdout: string[] = []
  const stderr: string[] = []
  const status = await runCli([...args, '--json'], commandGroups, {
    config: readConfig({}),
    withDatabase: (work) => work(database.db),
    print: (text) => void stdout.push(text),
    warn: (text) => void stderr.push(text),
    isTerminal: false,
  })
  assert.equal(status, 0, stderr.join('\n'))
  return JSON.parse(stdout.join('\n')) as Record<string, unknown>
}

test('changes by the command line stand in the audit log, without secrets and whole numbers', async () => {
  const { id: org } = await createOrganization(database.db, { name: 'Audited' })
  const key = await outdial('key', 'create', '--org', org, '--name', 'A', '--scopes', 'calls:read')
  const id = String(key['id'])
  await outdial('key', 'rename', id, 'B')
  const rotated = await outdial('key', 'rotate', id)
  await outdial('key', 'revoke', id)
  await outdial('org', 'set', org, '--concurrency', '5')
  await outdial('dnc', 'add', '+12025550199', '--org', org)
  await outdial('dnc', 'remove', '+12025550199', '--org', org)
  const rows = await database.db.rows<{ action: string; kind: string; row: string }>(
    sql(
      'test.audit',
      `select action, actor_kind as kind, to_jsonb(a)::text as row
         from audit_entries a
        where organization_id = $1
        order by at, id`,
    ),
    [org],
  )
  assert.deepEqual(
    rows.map(({ action, kind }) => `${kind} ${action}`),
    [
      'api_key.create',
      'api_key.rename',
      'api_key.rotate',
      'api_key.revoke',
      'organization.change',
      'do_not_call.add',
      'do_not_call.remove',
    ].map((action) => `command_line ${action}`),
  )
  const text = rows.map(({ row }) => row).join('\n')
  for (const secret of [key['secret'], rotated['secret'], '+12025550199'])
    assert.ok(!text.includes(String(secret)))
})
