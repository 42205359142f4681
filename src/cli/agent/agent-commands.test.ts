import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { captureCli } from '../../../tests/support/cli/capture-cli.ts'
import {
  createCallingOrganization,
  openTrunk,
  queueCalls,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { archiveAgent } from '../../domains/agents/archive-agent.ts'
import { listAuditEntryRows } from '../../domains/audit/audit-store.ts'
import { findAgentDefinition } from '../../domains/agents/agent-store.ts'
import { createAgent } from '../../domains/agents/create-agent.ts'
import { publishAgent } from '../../domains/agents/publish-agent.ts'
import { addAgentCommands } from './agent-commands.ts'
import { addCallCommands } from '../call/call-commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'outdial-agent-'))
let database: TestDatabase
let organization: CallingOrganization

before(async () => {
  database = await createTestDatabase()
  await openTrunk(database.db)
  organization = await createCallingOrganization(database.db)
})
after(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

const outdial = async (...args: readonly string[]): Promise<string> =>
  (await outdialWarned(...args)).printed

const outdialWarned = async (...args: readonly string[]) => {
  const { status, stdout, stderr } = await captureCli(args, [addAgentCommands, addCallCommands], {
    db: database.db,
  })
  assert.equal(status, 0, stderr)
  return { printed: stdout, warned: stderr }
}

const file = {
  name: 'Bookings',
  greeting: 'Hello {{contact.name}}.',
  prompt: 'Book a table.\nBe brief.',
  voicemail: 'hang_up',
  tools: [
    {
      name: 'book',
      description: 'Books a table.',
      parameters: { type: 'object' },
      method: 'POST',
      url: 'https://user:hunter2@example.com/book',
      headers: { Authorization: 'Bearer sesame' },
    },
  ],
}

test('an agent is shown in its published version, without the secrets of its tools', async () => {
  const { id } = await createAgent(database.db, organization.organizationId, file)
  await publishAgent(database.db, id, { ...file, greeting: 'Good day.' })
  const document = await outdial('agent', 'show', id, '--json')
  const shown = JSON.parse(document) as Record<string, unknown>
  assert.equal(shown['greeting'], 'Good day.')
  assert.equal(shown['prompt'], file.prompt)
  assert.equal(shown['version'], 2)
  assert.equal(shown['organization_id'], organization.organizationId)
  assert.ok(!('archived_at' in shown))
  const lines = await outdial('agent', 'show', id)
  for (const text of [document, lines]) {
    assert.match(text, /Authorization/)
    assert.doesNotMatch(text, /sesame|hunter2/)
  }
  assert.match(lines, /^prompt\n {2}Book a table\.\n {2}Be brief\.$/m)
  await archiveAgent(database.db, id)
  assert.match(await outdial('agent', 'show', id, '--json'), /"archived_at"/)
})

test('an agent whose engine has no server is published with a warning that names the setting', async () => {
  const path = join(folder, 'realtime.json')
  writeFileSync(path, JSON.stringify({ ...file, engine: { kind: 'realtime' } }))
  const told = await outdialWarned('agent', 'create', '--file', path, '--json')
  assert.match(told.warned, /OUTDIAL_REALTIME_URL is not set\. Until the service has it, calls/)
  const { id } = JSON.parse(told.printed) as { id: string }
  const again = await outdialWarned('agent', 'publish', id, '--file', path)
  assert.match(again.warned, /OUTDIAL_REALTIME_URL/)
  writeFileSync(path, JSON.stringify({ ...file, engine: { kind: 'sandbox' } }))
  assert.equal((await outdialWarned('agent', 'publish', id, '--file', path)).warned, '')
})

test('an agent’s engine and what it records are shown in words', async () => {
  const engine = { kind: 'cascade', stt: ['env'], llm: ['env'], tts: ['env'] }
  const { id } = await createAgent(database.db, organization.organizationId, {
    ...file,
    engine,
    recording: 'never',
  })
  const lines = await outdial('agent', 'show', id)
  assert.match(lines, /^engine +cascade; llm: env; stt: env; tts: env$/m)
  assert.match(lines, /^recording +never$/m)
})

test('each command that changes an agent is in the audit log', async () => {
  const path = join(folder, 'audited.json')
  writeFileSync(path, JSON.stringify(file))
  const created = await outdial('agent', 'create', '--file', path, '--json')
  const { id } = JSON.parse(created) as { id: string }
  await outdial('agent', 'publish', id, '--file', path)
  await outdial('agent', 'archive', id)
  await outdial('agent', 'archive', id)
  const { rows } = await listAuditEntryRows(database.db, {
    organizationId: organization.organizationId,
    limit: 10,
    filters: { target_id: id },
  })
  assert.deepEqual(
    rows.map((row) => [row.action, row.actor_kind]),
    [
      ['agent.archive', 'command_line'],
      ['agent.publish', 'command_line'],
      ['agent.create', 'command_line'],
    ],
  )
  assert.deepEqual(rows[1]?.before, { version: 1 })
  assert.doesNotMatch(JSON.stringify(rows), /sesame|hunter2/)
})

test('an agent is exported as a file, of which publish keeps the hidden values', async () => {
  const { id } = await createAgent(database.db, organization.organizationId, file)
  await publishAgent(database.db, id, { ...file, greeting: 'Good day.' })
  const exported = await outdial('agent', 'export', id)
  assert.doesNotMatch(exported, /sesame|hunter2/)
  const path = join(folder, 'exported.json')
  writeFileSync(path, exported)
  await outdial('agent', 'publish', id, '--file', path)
  const third = await findAgentDefinition(database.db, organization.organizationId, id, 3)
  const second = await findAgentDefinition(database.db, organization.organizationId, id, 2)
  assert.deepEqual(third, second)
  assert.match(JSON.stringify(third), /sesame.*hunter2|hunter2.*sesame/)
  const first = JSON.parse(await outdial('agent', 'export', id, '--of-version', '1')) as object
  assert.equal((first as { greeting: string }).greeting, file.greeting)
})

test('the newest agent is the first of the list', async () => {
  const { id } = await createAgent(database.db, organization.organizationId, file)
  const listed = JSON.parse(await outdial('agent', 'list', '--json')) as { id: string }[]
  assert.equal(listed[0]?.id, id)
  assert.ok(listed.length > 1)
})

test('archiving reports that it is final, what happens to calls, and how to go on', async () => {
  const { id } = await createAgent(database.db, organization.organizationId, file)
  const told = await outdial('agent', 'archive', id)
  assert.match(told, /for good.*queued calls end failed/)
  assert.match(told, /\.\/outdial agent create --file FILE/)
})

test('calls are listed and shown with their callees, and a waiting call with its reason', async () => {
  const [call] = await queueCalls(database.db, organization, 1)
  assert.ok(call)
  const listed = JSON.parse(await outdial('call', 'list', '--json')) as Record<string, string>[]
  const number = listed.find(({ id }) => id === call.id)?.['phone_number'] ?? ''
  assert.match(number, /^\+\d{8,15}$/)
  const row = (await outdial('call', 'list')).split('\n').find((line) => line.startsWith(call.id))
  assert.ok(row?.includes(number), row)
  const shown = await outdial('call', 'show', call.id)
  assert.match(shown, new RegExp(`^called +\\${number}`, 'm'))
  assert.match(shown, /^agent +\S/m)
  assert.match(shown, /^waits +No dispatcher is running\.$/m)
  assert.match(shown, new RegExp(`^explained +\\./outdial call explain ${call.id}$`, 'm'))
  const explained = await outdial('call', 'explain', call.id)
  assert.match(explained, /It waits: No dispatcher is running\.$/)
})
