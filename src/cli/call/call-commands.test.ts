import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startCaptured } from '../../../tests/support/cli/capture-cli.ts'
import {
  createCallingOrganization,
  execute,
  openTrunk,
  queueCalls,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { until } from '../../../tests/support/until.ts'
import { appendTurn } from '../../domains/results/transcript-store.ts'
import { insertTurnLatencies, insertUsage } from '../../domains/results/usage-store.ts'
import { addCallCommands } from './call-commands.ts'
import { addDialCommand } from './dial-command.ts'

let database: TestDatabase
let organization: CallingOrganization
let callId: string

before(async () => {
  database = await createTestDatabase()
  await openTrunk(database.db)
  organization = await createCallingOrganization(database.db)
  const [call] = await queueCalls(database.db, organization, 1)
  assert.ok(call)
  callId = call.id
  await execute(
    database.db,
    `update calls
        set status = 'completed', answer_status = 'answered', ended_at = now(), duration_seconds = 9,
            decisions = '[{"at": "2026-08-01T08:00:00Z", "decision": "dialled", "reason": "It was its turn."},
                          {"at": "2026-08-01T08:00:09Z", "decision": "completed"}]'
      where id = '${callId}'`,
  )
})
after(() => database.drop())

const start = (...args: readonly string[]) => {
  const { status, stdout, stderr } = startCaptured(args, [addCallCommands, addDialCommand], {
    db: database.db,
  })
  return { status, output: () => stdout.join('\n'), errors: () => stderr.join('\n') }
}

const run = async (...args: readonly string[]): Promise<string> => {
  const { status, output, errors } = start(...args)
  assert.equal(await status, 0, errors())
  return output()
}

test('an ended call is explained even if its last decision has no reason', async () => {
  const lines = (await run('call', 'explain', callId)).split('\n')
  assert.match(lines[0] ?? '', /^The call is completed; it was not dialled\.$/)
  assert.match(lines.at(-2) ?? '', /dialled +It was its turn\.$/)
  assert.match(lines.at(-1) ?? '', /^2026-08-01T08:00:09\.000Z +completed$/)
})

test('a call is shown with its words, reply latencies, model usage and summary', async () => {
  const call = { organizationId: organization.organizationId, callId }
  await appendTurn(database.db, call, {
    sequence: 0,
    speaker: 'contact',
    text: 'Tuesday is fine.',
    audioOffsetMs: 1_500,
  })
  await insertTurnLatencies(database.db, call, [
    {
      audioOffsetMs: 2_250,
      endpointingMs: 500,
      transcriptionMs: null,
      modelMs: 120,
      speechMs: null,
      ownMs: 30,
      totalMs: 650,
    },
  ])
  await insertUsage(database.db, call, {
    purpose: 'conversation',
    engine: 'realtime',
    provider: 'api.example.test',
    model: 'm-1',
    inputTokens: 1200,
    outputTokens: 340,
    audioInMs: 9_000,
    audioOutMs: 4_000,
    costMicrousd: 12_300,
    firstWordsMs: 140,
  })
  await execute(
    database.db,
    `insert into results (organization_id, call_id, kind, status, revision, content_hash, generated_at)
     values ('${call.organizationId}', '${callId}', 'summary', 'ready', 1, '\\x00', now())`,
  )
  await execute(
    database.db,
    `insert into result_revisions (organization_id, call_id, kind, revision, content, content_hash, generated_at)
     values ('${call.organizationId}', '${callId}', 'summary', 1, '{"summary": "They meet on Tuesday."}', '\\x00', now())`,
  )
  const shown = await run('call', 'show', callId)
  for (const line of [
    /^ +1\.50 +contact +Tuesday is fine\.$/m,
    /^ +2\.25 +answered after 650 ms: endpointing 500, model 120, own 30$/m,
    /^conversation +m-1 at api\.example\.test, 1200 tokens in, 340 out, audio 9 s in, 4 s out, cost \$0\.0123$/m,
    /^summary +ready, revision 1$/m,
    /^ {2}They meet on Tuesday\.$/m,
  ])
    assert.match(shown, line)
})

const dialInVain = async (number: string, told: 'output' | 'errors', ...more: string[]) => {
  const { organizationId: org, agentId: agent } = organization
  const options = ['--org', org, '--agent', agent, '--follow', ...more]
  const dialling = start('dial', ...options, number)
  await until('the explanation', () => dialling[told]().includes('It waits: ') || undefined)
  const end = `update calls set status = 'cancelled', ended_at = now() where status = 'queued'`
  await execute(database.db, end)
  assert.equal(await dialling.status, 0)
  return { output: dialling.output(), errors: dialling.errors() }
}

test('a followed dial prints its call, and once why it waits', async () => {
  const { output, errors } = await dialInVain('+12025550101', 'output')
  assert.match(
    output,
    /^Call [0-9a-f-]{36} is queued\.\nIt waits: No dispatcher is running\.\n— cancelled$/,
  )
  assert.equal(errors, '')
})

test('a followed dial with --json prints the wait reason on stderr', async () => {
  const { output, errors } = await dialInVain('+12025550102', 'errors', '--json')
  assert.equal(errors, 'It waits: No dispatcher is running.')
  assert.deepEqual(Object.keys(JSON.parse(output)), ['id', 'status'])
})
