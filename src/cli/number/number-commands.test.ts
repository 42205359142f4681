import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { captureCli } from '../../../tests/support/cli/capture-cli.ts'
import {
  createCallingOrganization,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { insertTrunk } from '../../../tests/support/trunk-fixtures.ts'
import { createAgent } from '../../domains/agents/create-agent.ts'
import { publishAgent } from '../../domains/agents/publish-agent.ts'
import { listAuditEntryRows } from '../../domains/audit/audit-store.ts'
import { listNumbers } from '../../domains/numbers/edit-numbers.ts'
import type { ShownNumber } from '../../domains/numbers/number-resource.ts'
import { addNumberCommands } from './number-commands.ts'

let database: TestDatabase
let organization: CallingOrganization

before(async () => {
  database = await createTestDatabase()
  organization = await createCallingOrganization(database.db)
  await insertTrunk(database.db, 'carrier', { uris: ['sip:a.example'] })
})
after(() => database.drop())

const run = (...args: readonly string[]) =>
  captureCli(args, [addNumberCommands], { db: database.db })

const ask = async <T>(...args: readonly string[]): Promise<T> => {
  const { status, stdout, stderr } = await run(...args, '--json')
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout) as T
}

const refused = async (...args: readonly string[]): Promise<string> => {
  const { status, stderr } = await run(...args)
  assert.notEqual(status, 0, args.join(' '))
  return stderr
}

test('numbers are added, changed, rested, resumed and removed, each with its audit entry', async () => {
  const [first, second] = ['+12125550123', '+442071234567']
  const added = await ask<ShownNumber>(
    ...`number add ${first} --trunk carrier --calls-per-day 200 --rest-when-flagged`.split(' '),
  )
  assert.deepEqual(
    [added.country, added.trunk, added.calls_per_day, added.rest_when_flagged, added.state],
    ['US', 'carrier', 200, true, 'active'],
  )
  await ask('number', 'add', second)
  const changed = await ask<ShownNumber>(
    ...`number set ${first} --trunk any --calls-per-day none --no-rest-when-flagged`.split(' '),
  )
  assert.deepEqual(
    [changed.trunk, changed.calls_per_day, changed.rest_when_flagged],
    [null, null, false],
  )
  const rested = await ask<ShownNumber>(
    'number',
    'rest',
    first,
    '--hours',
    '2',
    '--reason',
    'Spam.',
  )
  assert.deepEqual([rested.state, rested.reason], ['resting', 'Spam.'])
  assert.ok(rested.rests_until !== null && Date.parse(rested.rests_until) > Date.now())
  const list = await ask<ShownNumber[]>('number', 'list')
  assert.deepEqual(
    list.map(({ phone_number: number }) => number),
    [first, second],
  )
  assert.match((await run('number', 'list')).stdout, /\+12125550123 +US +resting +0, no limit/)
  assert.equal((await ask<ShownNumber>('number', 'resume', first)).state, 'active')
  await ask('number', 'remove', first)
  await ask('number', 'remove', second)
  assert.deepEqual(await listNumbers(database.db, organization.organizationId), [])
  const { rows } = await listAuditEntryRows(database.db, {
    organizationId: organization.organizationId,
    limit: 20,
    filters: {},
  })
  assert.deepEqual(
    rows.map(({ action }) => action).toReversed(),
    'add add change rest resume remove remove'.split(' ').map((verb) => `number.${verb}`),
  )
})

test('a refused number is told with what to do', async () => {
  assert.match(await refused('number', 'add', '0212555'), /E\.164/)
  assert.match(await refused('number', 'add', '+99912345678'), /no number of any country/)
  assert.match(await refused('number', 'add', '+12125550123', '--trunk', 'b'), /no trunk b/)
  const zero = await refused('number', 'add', '+12125550123', '--calls-per-day', '0')
  assert.match(zero, /calls_per_day: It must be at least 1/)
  assert.match(await refused('number', 'set', '+12125550123'), /number list/)
  await ask('number', 'add', '+12125550123')
  assert.match(await refused('number', 'add', '+12125550123'), /has \+12125550123 already/)
  assert.match(await refused('number', 'rest', '+12125550123', '--hours', '0'), /to come/)
})

test('an agent calls only from numbers of its organization, which keeps them', async () => {
  const { organizationId } = organization
  const number = '+13125550188'
  const file = {
    name: 'Sales',
    greeting: 'Hello.',
    prompt: 'Sell.',
    voicemail: 'hang_up',
    caller_ids: [number],
  }
  await assert.rejects(
    createAgent(database.db, organizationId, file),
    /caller_ids\[0\]: \+13125550188 is no number of the organization/,
  )
  await ask('number', 'add', number)
  const agent = await createAgent(database.db, organizationId, file)
  assert.match(await refused('number', 'remove', number), /caller_ids of the agent Sales/)
  const twice = publishAgent(database.db, agent.id, { ...file, caller_ids: [number, number] })
  await assert.rejects(twice, /caller_ids\[1\]: It stands in the list already/)
  const short = publishAgent(database.db, agent.id, { ...file, caller_ids: ['123'] })
  await assert.rejects(short, /caller_ids\[0\]: It must be a number in E\.164/)
  await publishAgent(database.db, agent.id, { ...file, caller_ids: undefined })
  await ask('number', 'remove', number)
})
