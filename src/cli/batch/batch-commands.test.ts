import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startCaptured } from '../../../tests/support/cli/capture-cli.ts'
import {
  answered,
  busy,
  createBatchFixture,
  failed,
  type BatchFixture,
} from '../../../tests/support/batch-fixture.ts'
import { contactBody } from '../../../tests/support/organization-fixture.ts'
import { clearOrganizations, execute, openTrunk } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { batch as batchSchema, type Batch } from '../../contract/batches.ts'
import { upsertRecipient } from '../../domains/contacts/upsert-recipient.ts'
import { addBatchCommands } from './batch-commands.ts'

let test: TestDatabase
let batches: BatchFixture
let folder: string

before(async () => {
  test = await createTestDatabase()
  await openTrunk(test.db)
  folder = mkdtempSync(join(tmpdir(), 'outdial-csv-'))
})
after(async () => {
  rmSync(folder, { recursive: true })
  await test.drop()
})
beforeEach(async () => {
  await clearOrganizations(test.db)
  batches = await createBatchFixture(test.db)
})

const csvOf = (count: number): string =>
  'external_id,name,phone_number\n' +
  Array.from({ length: count }, (_, row) => `a${row},Ada,+1202${5_000_000 + row}\n`).join('')

interface Ran {
  readonly status: number
  readonly stdout: string[]
  readonly stderr: string
}

/** `outdial batch run` on a file with this text. */
const run = async (
  text: string,
  options: readonly string[] = [],
  { agent = batches.agentId, isTerminal = false } = {},
): Promise<Ran> => {
  const file = join(folder, 'spring.csv')
  writeFileSync(file, text)
  return outdial(
    ['run', file, '--org', batches.organizationId, '--agent', agent, ...options],
    isTerminal,
  )
}

/** One `outdial batch` command. */
const outdial = async (args: readonly string[], isTerminal = false): Promise<Ran> => {
  const options = { db: test.db, isTerminal }
  const { status, stdout, stderr } = startCaptured(['batch', ...args], [addBatchCommands], options)
  return { status: await status, stdout, stderr: stderr.join('\n') }
}

const documentOf = <T>({ status, stdout, stderr }: Ran): T => {
  assert.equal(status, 0, stderr)
  assert.equal(stdout.length, 1)
  return JSON.parse(stdout[0] ?? '') as T
}

const nothingMade = async (): Promise<void> => {
  const rows = await execute(
    test.db,
    `select id from batches union all select id from calls union all
     select id from contacts where id <> '${batches.contactId}'`,
  )
  assert.deepEqual(rows, [])
}

/** Makes every call that comes due, until the batch of `size` is over. */
const carry = async (size: number): Promise<void> => {
  const results = [answered, busy, failed]
  for (let ended = 0; ended < size;) {
    for (const call of await batches.claim(5)) {
      assert.equal((await batches.dial(call)).kind, 'dial')
      await batches.end(call, results[ended % results.length])
      ended += 1
    }
  }
}

describe('outdial batch run', () => {
  it('creates and starts a batch, prints it, and hides it from the API', async () => {
    const batch = documentOf<Batch>(await run(csvOf(3), ['--json']))
    assert.deepEqual(batchSchema.parse(batch), batch)
    assert.equal(batch.status, 'queued')
    assert.equal(batch.name, 'spring')
    assert.equal(batch.queued_recipients, 3)
    assert.deepEqual((await batches.list({ limit: 10 })).data, [])
    await assert.rejects(batches.get(batch.id), { code: 'resource_not_found' })
    assert.deepEqual(await batches.calls(batch.id), [], 'nor are its calls the API’s')
    assert.equal((await batches.claim()).length, 3)
  })

  it('creates several batches for more than 1,000 rows, and prints a list', async () => {
    const made = documentOf<Batch[]>(await run(csvOf(2001), ['--json', '--name', 'Spring']))
    assert.deepEqual(
      made.map((batch) => [batch.name, batch.total_recipients]),
      [
        ['Spring (1 of 3)', 1000],
        ['Spring (2 of 3)', 1000],
        ['Spring (3 of 3)', 1],
      ],
    )
  })

  it('a bad row refuses the file: nothing is created, nothing is on stdout', async () => {
    const ran = await run(`${csvOf(2)}a9,Ada,555\n`, ['--json'])
    assert.equal(ran.status, 1)
    assert.deepEqual(ran.stdout, [])
    assert.match(ran.stderr, /^row 4, phone_number: .* \(invalid_e164\)$/)
    await nothingMade()
  })

  it('the reason why a batch waits is explained, and shown with it', async () => {
    const { id } = await batches.create(2)
    const explained = await outdial(['explain', id])
    assert.equal(explained.status, 0, explained.stderr)
    assert.equal(
      explained.stdout.join('\n'),
      'The batch is draft.\nIt waits: The batch is a draft: start it.',
    )
    const [printed = ''] = (await outdial(['explain', id, '--json'])).stdout
    assert.deepEqual(JSON.parse(printed), {
      object: 'explanation',
      status: 'draft',
      reasons: [{ code: 'batch_paused', message: 'The batch is a draft: start it.' }],
    })
    const shown = (await outdial(['show', id])).stdout.join('\n')
    assert.match(shown, /It waits: The batch is a draft: start it\.\n`\.\/outdial batch explain/)
  })

  it('a conflict with known contacts is found before anything is created', async () => {
    await test.db.transaction((tx) =>
      upsertRecipient(
        tx,
        batches.organizationId,
        contactBody({ external_id: 'other', phone_number: '+12025000001' }),
      ),
    )
    const ran = await run(csvOf(3))
    assert.equal(ran.status, 1)
    assert.match(
      ran.stderr,
      /^row 3, phone_number: The number belongs to the contact with source "\w+" and external_id "\S+"\. \(contact_identity_conflict\)$/,
    )
  })

  it('--skip-invalid calls the others and reports the omitted rows', async () => {
    const ran = await run(`${csvOf(2)}a9,Ada,555\na0,Ada,+12025000009\n`, [
      '--json',
      '--skip-invalid',
    ])
    assert.equal(documentOf<Batch>(ran).total_recipients, 2)
    assert.match(ran.stderr, /row 4, phone_number: .*\n?row 5, external_id: /)
  })

  it('--skip-invalid with no row left is refused', async () => {
    const ran = await run('external_id,name,phone_number\na9,Ada,555\n', ['--skip-invalid'])
    assert.equal(ran.status, 1)
    await nothingMade()
  })

  it('an unknown agent is an error, a missing option is wrong use', async () => {
    assert.equal((await run(csvOf(1), [], { agent: 'nobody' })).status, 1)
    assert.equal((await run(csvOf(1), ['--sideways'])).status, 2)
    await nothingMade()
  })

  it('--watch prints a JSON line for each change until the last call has ended', async () => {
    const [ran] = await Promise.all([run(csvOf(20), ['--watch']), carry(20)])
    assert.equal(ran.status, 0, ran.stderr)
    const lines = ran.stdout.map((line) => batchSchema.parse(JSON.parse(line)))
    const last = lines.at(-1)
    assert.equal(last?.status, 'completed')
    assert.equal(last?.answered_recipients, 7)
    assert.equal(new Set(ran.stdout).size, ran.stdout.length, 'no line repeats the one before')
  })

  it('--watch --json prints one document, at the end', async () => {
    const [ran] = await Promise.all([run(csvOf(3), ['--watch', '--json']), carry(3)])
    assert.equal(documentOf<Batch>(ran).status, 'completed')
  })

  it('--watch on a terminal draws bars over each other', async () => {
    const [ran] = await Promise.all([run(csvOf(3), ['--watch'], { isTerminal: true }), carry(3)])
    const last = ran.stdout.at(-1) ?? ''
    assert.match(last, /█{24} {2}3\/3 {2}completed {4}1 answered, 1 busy, 1 failed$/)
    assert.match(ran.stdout[0] ?? '', /^Batch [0-9a-f-]{36} is queued: 3 recipients\.$/)
    assert.ok(ran.stdout.slice(2).every((frame) => frame.startsWith('\u001b[1A\u001b[J')))
  })

  it('--watch does not wait when no service is running', async () => {
    await execute(test.db, 'update nodes set draining = true')
    const ran = await run(csvOf(1), ['--watch', '--json'])
    assert.equal(documentOf<Batch>(ran).status, 'queued')
    assert.match(ran.stderr, /outdial start/)
  })
})

describe('outdial batch show, start, pause and cancel', () => {
  const act = (name: string, id: string): Promise<Ran> =>
    outdial([name, id, '--org', batches.organizationId, '--json'])

  it('act on a batch from any origin', async () => {
    const fromFile = documentOf<Batch>(await run(csvOf(2), ['--json'])).id
    const fromApi = (await batches.create(2)).id
    await act('start', fromApi)
    for (const id of [fromFile, fromApi]) {
      for (const [name, status] of [
        ['show', 'queued'],
        ['pause', 'paused'],
        ['start', 'queued'],
        ['cancel', 'cancelled'],
      ] as const) {
        assert.equal(documentOf<Batch>(await act(name, id)).status, status)
      }
    }
  })

  it('report in a sentence what cannot be done', async () => {
    const { id } = await batches.create(1)
    for (const [name, batchId, sentence] of [
      ['pause', id, /draft/],
      ['show', 'nobody', /no batch nobody/],
      ['cancel', batches.agentId, /no batch/],
    ] as const) {
      const ran = await act(name, batchId)
      assert.equal(ran.status, 1)
      assert.deepEqual(ran.stdout, [])
      assert.match(ran.stderr, sentence)
    }
  })
})
