import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dialCall } from '../../../tests/support/automation-fixture.ts'
import { answered, createRunRig, endStep } from '../../../tests/support/automation-rig.ts'
import { captureCli } from '../../../tests/support/cli/capture-cli.ts'
import { execute, insertNode, openTrunk } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { newId } from '../../runtime/ids.ts'
import { addAutomationCommands } from './automation-commands.ts'
import { addRunCommands } from './run-commands.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
  await openTrunk(database.db)
  await insertNode(database.db, newId())
  await execute(database.db, `update nodes set max_channels = 10, routes = '{env}'`)
})
after(() => database.drop())

const explain = async (...args: readonly string[]): Promise<string> => {
  const { status, stdout, stderr } = await captureCli(
    ['automation', 'explain', ...args],
    [addAutomationCommands],
    { db: database.db },
  )
  assert.equal(status, 0, stderr)
  return stdout
}

test('a run shows its call and its wait reason, until the call has ended', async () => {
  const rig = createRunRig(database.db)
  const { runId } = await rig.begin(() => ({ first: rig.callStep(), done: endStep() }))
  await rig.turn()
  const { id } = await rig.lastCall(runId)
  await execute(
    database.db,
    `update lanes set opens_at = '-infinity', closes_at = 'infinity' where organization_id = $1`,
    [rig.organization.organizationId],
  )
  await execute(
    database.db,
    `update calls set not_before = '2099-01-01T08:00:00Z', wait_reason = 'attempts_per_day' where id = $1`,
    [id],
  )
  const told = await explain(runId, '--org', rig.organization.organizationId)
  assert.deepEqual(told.split('\n').slice(-3), [
    'The run is running.',
    `Its call ${id} is queued.`,
    'It waits: The number was dialled as often as the policy allows on one day. Until 2099-01-01T08:00:00.000Z.',
  ])
  const printed: unknown = JSON.parse(
    await explain(runId, '--org', rig.organization.organizationId, '--json'),
  )
  assert.partialDeepStrictEqual(printed, {
    reasons: [{ code: 'attempts_per_day' }],
    call: { id },
  })

  await rig.answer(runId, answered)
  await rig.turn()
  const over = await explain(runId, '--org', rig.organization.organizationId)
  assert.equal(over.split('\n').at(-1), 'The run is completed.')
})

test('a run with a live call is reported as cancelled at its end, and any other at once', async () => {
  const rig = createRunRig(database.db)
  const steps = () => ({ first: rig.callStep(), done: endStep() })
  const cancel = async (runId: string): Promise<string> => {
    const { stdout, stderr } = await captureCli(['run', 'cancel', runId], [addRunCommands], {
      db: database.db,
    })
    assert.equal(stderr, '')
    return stdout
  }
  const { runId } = await rig.begin(steps)
  await rig.turn()
  await dialCall(database.db, (await rig.lastCall(runId)).id)
  assert.equal(
    await cancel(runId),
    `Run ${runId} has a live call. It is cancelled when its live call ends.`,
  )
  const waiting = await rig.begin(steps)
  assert.equal(await cancel(waiting.runId), `Run ${waiting.runId} is cancelled.`)
  assert.equal(await cancel(waiting.runId), `Run ${waiting.runId} is cancelled.`)
})
