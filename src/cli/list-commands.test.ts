import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { captureCli } from '../../tests/support/cli/capture-cli.ts'
import { createBatchFixture, type BatchFixture } from '../../tests/support/batch-fixture.ts'
import { startedInTurn } from '../../tests/support/claim-turns.ts'
import { clearOrganizations, insertNode, openTrunk } from '../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import { readConfig } from '../config/read-config.ts'
import type { Batch } from '../contract/batches.ts'
import type { Call } from '../contract/calls.ts'
import type { Contact } from '../contract/contacts.ts'
import type { Recording } from '../contract/recordings.ts'
import { placeManualCall } from '../domains/calls/place-manual-call.ts'
import { completeRecording, insertRecording } from '../domains/recordings/recording-store.ts'
import { openRecordingStorage } from '../storage/open-recording-storage.ts'
import { newId } from '../runtime/ids.ts'
import { addBatchCommands } from './batch/batch-commands.ts'
import { addCallCommands } from './call/call-commands.ts'
import { addContactCommands } from './contact/contact-commands.ts'
import { addRecordingCommands } from './recording-commands.ts'
import { addRunCommands } from './automation/run-commands.ts'

let test: TestDatabase
let batches: BatchFixture
let folder: string

before(async () => {
  test = await createTestDatabase()
  await openTrunk(test.db)
  folder = mkdtempSync(join(tmpdir(), 'outdial-lists-'))
})
after(async () => {
  rmSync(folder, { recursive: true })
  await test.drop()
})
beforeEach(async () => {
  await clearOrganizations(test.db)
  batches = await createBatchFixture(test.db)
})

const groups = [
  addBatchCommands,
  addCallCommands,
  addContactCommands,
  addRecordingCommands,
  addRunCommands,
]

const outdial = (...args: string[]) =>
  captureCli([...args, '--org', batches.organizationId], groups, {
    db: test.db,
    settings: { OUTDIAL_DATA: folder },
  })

const ask = async <T>(...args: string[]): Promise<T> => {
  const { status, stdout, stderr } = await outdial(...args, '--json')
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout) as T
}

const dial = (phoneNumber: string) =>
  test.db.transaction((tx) =>
    placeManualCall(tx, batches.organizationId, {
      agentId: batches.agentId,
      phoneNumber,
    }),
  )

const csv = (text: string): string => {
  const file = join(folder, 'contacts.csv')
  writeFileSync(file, text)
  return file
}

const heading = 'external_id,name,phone_number\n'

describe('outdial call', () => {
  it('lists calls of any origin, newest first, and cancels a waiting one', async () => {
    const first = await dial('+12025550101')
    const second = await dial('+12025550102')
    const listed = await ask<Call[]>('call', 'list')
    assert.deepEqual(
      listed.map(({ id }) => id),
      [second.id, first.id],
    )
    assert.equal((await ask<Call[]>('call', 'list', '--limit', '1')).length, 1)
    const cancelled = await ask<Call>('call', 'cancel', first.id)
    assert.equal(cancelled.status, 'cancelled')
    assert.deepEqual(
      (await ask<Call[]>('call', 'list', '--status', 'cancelled')).map(({ id }) => id),
      [first.id],
    )
    const again = await outdial('call', 'cancel', first.id)
    assert.equal(again.stdout, `Call ${first.id} is cancelled.`)
  })

  it('shows in the list which call waits for its number', async () => {
    const [first, second] = [await dial('+12025550101'), await dial('+12025550101')]
    const nodeId = newId()
    await insertNode(test.db, nodeId)
    assert.equal((await startedInTurn(test.db, nodeId))[0]?.callId, first.id)
    const { stdout } = await outdial('call', 'list')
    const lineOf = (id: string) => stdout.split('\n').find((line) => line.includes(id)) ?? ''
    assert.match(lineOf(second.id), /number_in_use/)
    assert.doesNotMatch(lineOf(first.id), /number_in_use/)
    const explained = await outdial('call', 'explain', second.id)
    assert.ok(explained.stdout.replaceAll('\n', ' ').includes(first.id), explained.stdout)
  })

  it('shows no call of another organization', async () => {
    const call = await dial('+12025550101')
    batches = await createBatchFixture(test.db)
    assert.deepEqual(await ask<Call[]>('call', 'list'), [])
    const refused = await outdial('call', 'cancel', call.id)
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /The organization has no call/)
  })
})

describe('an id that can be none', () => {
  const commands = [
    ['call', 'show'],
    ['call', 'explain'],
    ['call', 'trace'],
    ['call', 'cancel'],
    ['batch', 'show'],
    ['batch', 'explain'],
    ['contact', 'show'],
    ['run', 'show'],
    ['run', 'explain'],
  ]
  for (const [noun = '', verb = ''] of commands)
    it(`is refused in words by ${noun} ${verb}`, async () => {
      const refused = await outdial(noun, verb, '1234', '--org', batches.organizationId)
      assert.equal(refused.status, 1)
      assert.match(
        refused.stderr,
        new RegExp(`^There is no ${noun} 1234\\.$|^The organization has no ${noun} 1234\\.$`),
      )
    })
})

describe('outdial contact', () => {
  it('checks a file without a change, imports it, and lists its contacts', async () => {
    const file = csv(`${heading}a,Ada,(212) 555-5600\nb,"=1+1",2125555601\n`)
    const national = await outdial('contact', 'import', file, '--check')
    assert.equal(national.status, 1)
    assert.match(national.stderr, /row 2, phone_number: It must be E\.164/)
    const options = ['contact', 'import', file, '--country', 'us']
    const checked = await ask<Record<string, unknown>>(...options, '--check')
    assert.deepEqual(checked, {
      rows: 2,
      ready: 2,
      new: 2,
      updated: 0,
      duplicate: 0,
      invalid: 0,
      problems: [],
    })
    assert.deepEqual(await ask<Contact[]>('contact', 'list', '--external-id', 'a'), [])
    assert.deepEqual(await ask(...options), { contacts: 2, new: 2, updated: 0 })
    assert.deepEqual(await ask(...options), { contacts: 2, new: 0, updated: 2 })
    const listed = (await ask<Contact[]>('contact', 'list')).slice(0, 2)
    assert.deepEqual(
      new Set(listed.map((each) => each.phone_number)),
      new Set(['+12125555600', '+12125555601']),
    )
    const printed = await outdial('contact', 'list', '--csv')
    assert.match(printed.stdout, /,'=1\+1,\+12125555601,/)
    const shown = await ask<Contact>('contact', 'show', listed[0]?.id ?? '')
    assert.deepEqual(shown, listed[0])
  })

  it('changes nothing if one row is refused', async () => {
    const file = csv(`${heading}a,Ada,+12125555600\na,Bob,+12125555601\n`)
    const refused = await outdial('contact', 'import', file)
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /row 3, external_id: Row 2 has the same/)
    assert.deepEqual(await ask<Contact[]>('contact', 'list', '--external-id', 'a'), [])
    assert.deepEqual(await ask('contact', 'import', file, '--skip-invalid'), {
      contacts: 1,
      new: 1,
      updated: 0,
    })
  })
})

describe('outdial batch', () => {
  const start = async (): Promise<Batch> => {
    const file = csv(`${heading}a,Ada,+12125555600\nb,Bob,+12125555601\n`)
    return ask<Batch>('batch', 'run', file, '--agent', batches.agentId)
  }

  it('is listed, paused, resumed and cancelled, and shows the result of each recipient', async () => {
    const batch = await start()
    assert.deepEqual(
      (await ask<Batch[]>('batch', 'list')).map(({ id }) => id),
      [batch.id],
    )
    assert.equal((await ask<Batch>('batch', 'pause', batch.id)).status, 'paused')
    assert.equal((await ask<Batch>('batch', 'resume', batch.id)).status, 'queued')
    await ask<Batch>('batch', 'cancel', batch.id)
    const { recipients } = await ask<Batch & { recipients: Record<string, unknown>[] }>(
      'batch',
      'show',
      batch.id,
      '--recipients',
    )
    assert.deepEqual(
      recipients.map((each) => [each['external_id'], each['status']]),
      [
        ['a', 'cancelled'],
        ['b', 'cancelled'],
      ],
    )
    const printed = await outdial('batch', 'show', batch.id, '--csv')
    assert.match(printed.stdout, /^call_id,contact_id,external_id,name,phone_number,status/)
  })

  it('is checked without being created', async () => {
    const file = csv(`${heading}a,Ada,+12125555600\nb,Bob,+8835100000000\n`)
    const checked = await outdial('batch', 'run', file, '--agent', batches.agentId, '--check')
    assert.equal(checked.status, 1)
    assert.match(checked.stdout, /2 rows: 1 ready \(1 new, 0 updated\), 0 duplicate, 1 invalid/)
    assert.match(checked.stderr, /row 3, phone_number: .*\(unsupported_destination\)/)
    assert.deepEqual(await ask<Batch[]>('batch', 'list'), [])
  })
})

describe('outdial recording', () => {
  it('is listed and downloaded by the id of its call, and never overwrites a file', async () => {
    const call = await dial('+12025550100')
    const key = { organizationId: batches.organizationId, callId: call.id }
    const recordedAt = new Date('2026-11-22T10:00:00Z')
    await test.db.transaction((tx) =>
      insertRecording(tx, { ...key, contactId: call.contact_id, origin: 'manual', recordedAt }),
    )
    const { objects } = openRecordingStorage(folder, readConfig({}).bucket)
    await objects.put('a/b.mp3', { bytes: Buffer.from('mp3 bytes') })
    await completeRecording(test.db, key, {
      storageKey: 'a/b.mp3',
      durationSeconds: 1,
      sizeBytes: 9,
      peaksKey: 'a/b.json',
      frames: 50,
    })
    const [listed] = await ask<Recording[]>('recording', 'list')
    const out = join(folder, 'out.mp3')
    const told = await ask<Record<string, unknown>>('recording', 'download', call.id, '--out', out)
    assert.deepEqual(told, { id: listed?.id, file: out, size_bytes: 9 })
    assert.equal(readFileSync(out, 'utf8'), 'mp3 bytes')
    const again = await outdial('recording', 'download', call.id, '--out', out)
    assert.equal(again.status, 1)
    assert.match(again.stderr, /is there already/)
    assert.equal(readFileSync(out, 'utf8'), 'mp3 bytes')
  })
})

describe('outdial run', () => {
  it('lists nothing when there is none, and refuses an unknown one', async () => {
    assert.deepEqual(await ask('run', 'list'), [])
    const refused = await outdial('run', 'cancel', '00000000-0000-7000-8000-000000000000')
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /The organization has no run/)
  })
})
