import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createFolderStorage } from '../../storage/folder-storage.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'
import {
  contextOf,
  createOrganizationFixture,
  type OrganizationFixture,
} from '../../../tests/support/organization-fixture.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { recordSummary } from '../calls/record-summary.ts'
import { findCall } from '../calls/call-store.ts'
import { findContact } from '../contacts/contact-store.ts'
import { addDoNotCall, isOnDoNotCallList } from '../organizations/do-not-call.ts'
import { setOrganization } from '../organizations/set-organization.ts'
import { deleteRecordings, purgeDeletedRecordings } from '../recordings/deleted-recordings.ts'
import { recordingKeysOf } from '../recordings/recording-keys.ts'
import {
  completeRecording,
  findRecording,
  findRecordingAudio,
  insertRecording,
  listRecordingRows,
  recordingIdOf,
} from '../recordings/recording-store.ts'
import { getCallSummary } from '../results/get-call-summary.ts'
import { getCallTranscript } from '../results/get-call-transcript.ts'
import { openResults } from '../results/open-results.ts'
import { publishSummary, publishTranscript } from '../results/publish-result.ts'
import { markResultExhausted } from '../results/settle-result.ts'
import { appendTurn, type CallKey } from '../results/transcript-store.ts'
import { eraseContact } from './erase-contact.ts'
import { expireResults } from './expire-results.ts'

let test: TestDatabase
let ours: OrganizationFixture
let folder: string
let storage: ObjectStorage
const number = '+12025550123'
const sanitizer = { version: 1, sanitize: (text: string) => text }

before(async () => {
  test = await createTestDatabase()
  folder = mkdtempSync(join(tmpdir(), 'outdial-retention-'))
  storage = createFolderStorage(folder)
})
after(async () => {
  rmSync(folder, { recursive: true })
  await test.drop()
})
beforeEach(async () => {
  ours = await createOrganizationFixture(test.db)
})

/** A conversation that ended this many days ago, with all its data. */
const converse = async (daysAgo: number, phoneNumber = number): Promise<CallKey> => {
  const call = { organizationId: ours.organizationId, callId: await ours.placeCall(phoneNumber) }
  const { contact_id: contactId } = (await findCall(test.db, call.organizationId, call.callId))!
  await execute(
    test.db,
    `update calls set status = 'completed', connected_at = now(), ended_at = now(), dialing_at = now()
      where organization_id = $1 and id = $2`,
    [call.organizationId, call.callId],
  )
  await appendTurn(test.db, call, {
    sequence: 1,
    speaker: 'contact',
    text: 'My secret.',
    audioOffsetMs: 0,
  })
  await test.db.transaction(async (tx) => {
    await openResults(tx, call, { status: 'processing' })
    const recordedAt = new Date(Date.now() - daysAgo * 86_400_000)
    await insertRecording(tx, { ...call, contactId, origin: 'api', recordedAt })
  })
  await test.db.transaction((tx) => publishTranscript(tx, call, sanitizer))
  await test.db.transaction((tx) => publishSummary(tx, call, 'A secret was told.', sanitizer))
  await recordSummary(test.db, call.organizationId, call.callId, {
    summary: 'A secret was told.',
    outcome: 'achieved',
    outcomeReason: 'They told a secret.',
  })
  const keys = recordingKeysOf(call)
  await storage.put(keys.storageKey, { bytes: Buffer.from('mp3') })
  await storage.put(keys.peaksKey, { bytes: Buffer.from('{}') })
  await completeRecording(test.db, call, { ...keys, durationSeconds: 1, sizeBytes: 3, frames: 50 })
  await execute(
    test.db,
    `update results set created_at = now() - make_interval(days => $3) where organization_id = $1 and call_id = $2`,
    [call.organizationId, call.callId, daysAgo],
  )
  return call
}

const read = async (call: CallKey) => {
  const context = contextOf(test.db, call.organizationId)
  const params = { call_id: call.callId }
  const [summary, transcript] = await Promise.all([
    getCallSummary({ params, query: {}, body: {} }, context),
    getCallTranscript({ params, query: { limit: 100 }, body: {} }, context),
  ])
  return { summary, transcript }
}

/** Every text of the database that could still reveal the call. */
const remains = async (call: CallKey): Promise<string> => {
  const statement = {
    name: 'test.remains',
    text: `select coalesce(string_agg(t, ' '), '') as text from (
             select to_jsonb(c)::text as t from calls c where c.id = $1
              union all select to_jsonb(x)::text from transcript_turns x where x.call_id = $1
              union all select to_jsonb(x)::text from results x where x.call_id = $1
              union all select to_jsonb(x)::text from result_revisions x where x.call_id = $1
              union all select to_jsonb(x)::text from recordings x where x.call_id = $1) as all_rows`,
  }
  return (await test.db.row<{ text: string }>(statement, [call.callId]))?.text ?? ''
}

const assertForgotten = async (call: CallKey): Promise<void> => {
  const { summary, transcript } = await read(call)
  assert.deepEqual([summary.status, summary.reason], ['unavailable', 'retention_expired'])
  assert.deepEqual([transcript.status, transcript.reason], ['unavailable', 'retention_expired'])
  const id = recordingIdOf(call)
  assert.equal(await findRecording(test.db, call.organizationId, id), undefined)
  assert.equal(await findRecordingAudio(test.db, id), undefined)
  assert.doesNotMatch(await remains(call), /secret/i)
}

const keep = (retentionDays: number) =>
  test.db.transaction((tx) => setOrganization(tx, ours.organizationId, { retentionDays }))

const listed = async () =>
  (
    await listRecordingRows(test.db, {
      organizationId: ours.organizationId,
      limit: 100,
      filters: {},
    })
  ).rows.map(({ id }) => id)

describe('retention', () => {
  it('deletes what is older than its organization keeps, and nothing else', async () => {
    const old = await converse(31)
    const young = await converse(29)
    assert.equal((await keep(30)).retention_days, 30)
    assert.equal(await expireResults(test.db, 100), 1)
    await assertForgotten(old)
    const { summary, transcript } = await read(young)
    assert.deepEqual([summary.status, transcript.status], ['ready', 'ready'])
    assert.deepEqual(await listed(), [recordingIdOf(young)])
    const row = await findCall(test.db, old.organizationId, old.callId)
    assert.deepEqual([row?.status, row?.outcome, row?.summary], ['completed', 'achieved', null])
    assert.equal(row?.phone_number, number)
  })

  it('deletes the bytes of exactly the expired recordings', async () => {
    const old = await converse(3)
    const young = await converse(1)
    await keep(2)
    await expireResults(test.db, 100)
    assert.ok(await storage.open(recordingKeysOf(old).storageKey))
    const purge = () =>
      purgeDeletedRecordings(test.db, storage, 100, { organizationId: ours.organizationId })
    assert.deepEqual(await purge(), { listed: 1, purged: 1 })
    for (const key of Object.values(recordingKeysOf(old)))
      assert.equal(await storage.open(key), undefined)
    for (const key of Object.values(recordingKeysOf(young))) assert.ok(await storage.open(key))
    assert.deepEqual(await purge(), { listed: 0, purged: 0 })
  })

  it('keeps everything without a retention, and again once it is turned off', async () => {
    await converse(4000)
    assert.equal(await expireResults(test.db, 100), 0)
    await keep(1)
    assert.equal('retention_days' in (await keep(0)), false)
    assert.equal(await expireResults(test.db, 100), 0)
  })

  it('handles more calls than fit into one round', async () => {
    for (let count = 0; count < 5; count += 1) await converse(10)
    await keep(5)
    let forgotten = 0
    for (;;) {
      const round = await expireResults(test.db, 2)
      if (round === 0) break
      forgotten += round
    }
    assert.equal(forgotten, 5)
    assert.deepEqual(await listed(), [])
  })

  it('closes a result that is exhausted or still being made; a late summary changes nothing', async () => {
    const call = await converse(10)
    await execute(
      test.db,
      `update results set status = 'processing', reason = 'generating'
        where call_id = $1 and kind = 'summary'`,
      [call.callId],
    )
    await markResultExhausted(test.db, call, 'summary', 'provider_error')
    await keep(5)
    await expireResults(test.db, 100)
    await assertForgotten(call)
    const late = test.db.transaction((tx) => publishSummary(tx, call, 'The secret.', sanitizer))
    assert.equal(await late, 'closed')
    const project = test.db.transaction((tx) => publishTranscript(tx, call, sanitizer))
    assert.equal(await project, 'closed')
    await assertForgotten(call)
  })

  it('refuses an invalid number of days', async () => {
    for (const days of [-1, 1.5, 36_501]) await assert.rejects(keep(days), /36500 days, or off/)
  })
})

describe('a deleted recording', () => {
  it('stays deleted when its encoding ends later, and its objects go with it', async () => {
    const call = await converse(0)
    await test.db.transaction((tx) => deleteRecordings(tx, call.organizationId, [call.callId]))
    const keys = recordingKeysOf(call)
    const audio = { ...keys, durationSeconds: 1, sizeBytes: 3, frames: 50 }
    assert.equal(await completeRecording(test.db, call, audio), false)
    assert.deepEqual(await listed(), [])
  })

  it('is left to the service if a command does not find its bytes', async () => {
    const call = await converse(0)
    await test.db.transaction((tx) => deleteRecordings(tx, call.organizationId, [call.callId]))
    const elsewhere = createFolderStorage(join(folder, 'elsewhere'))
    const ofOurs = { organizationId: ours.organizationId, onlyFound: true }
    assert.equal((await purgeDeletedRecordings(test.db, elsewhere, 10, ofOurs)).purged, 0)
    assert.equal((await purgeDeletedRecordings(test.db, storage, 10, ofOurs)).purged, 1)
    assert.equal(await storage.open(recordingKeysOf(call).storageKey), undefined)
  })
})

describe('erasing a contact', () => {
  const erase = (contact: string, organizationId = ours.organizationId) =>
    test.db.transaction((tx) => eraseContact(tx, organizationId, contact))
  const contactOf = async (call: CallKey) =>
    (await findCall(test.db, call.organizationId, call.callId))!.contact_id

  it('leaves only the facts of the calls and the do-not-call entry', async () => {
    const [one, two] = [await converse(1), await converse(2)]
    const other = await converse(1, '+12025550124')
    const contactId = await contactOf(one)
    await addDoNotCall(test.db, ours.organizationId, number)
    assert.deepEqual(await erase(number), { contact_id: contactId, calls: 2, recordings: 2 })
    assert.equal(await findContact(test.db, ours.organizationId, contactId), undefined)
    for (const call of [one, two]) {
      await assertForgotten(call)
      assert.ok(!(await remains(call)).includes(number))
      assert.equal((await findCall(test.db, call.organizationId, call.callId))?.outcome, 'achieved')
    }
    assert.equal(await isOnDoNotCallList(test.db, ours.organizationId, number), true)
    assert.equal((await read(other)).transcript.status, 'ready')
  })

  it('is repeatable by id, for calls that were placed at that moment', async () => {
    const call = await converse(1)
    const contactId = await contactOf(call)
    await erase(contactId)
    assert.deepEqual(await erase(contactId), { contact_id: contactId, calls: 1, recordings: 0 })
  })

  it('is refused while a call with them is live, and changes nothing', async () => {
    const call = await converse(1)
    const live = await ours.placeCall(number)
    await execute(
      test.db,
      `update calls set status = 'in_progress', lease_token = gen_random_uuid() where id = $1`,
      [live],
    )
    await assert.rejects(erase(number), /is live/)
    assert.equal((await read(call)).transcript.status, 'ready')
    assert.ok(await findContact(test.db, ours.organizationId, await contactOf(call)))
  })

  it('removes the number from queued calls, whose contact the gate then misses', async () => {
    const callId = await ours.placeCall(number)
    await erase(number)
    const row = await findCall(test.db, ours.organizationId, callId)
    assert.deepEqual([row?.status, row?.phone_number], ['queued', ''])
  })

  it('refuses a person of another organization, and an unknown one', async () => {
    const contactId = await contactOf(await converse(1))
    const { organizationId } = await createOrganizationFixture(test.db)
    for (const contact of [contactId, number, 'Ada', '+12025550999'])
      await assert.rejects(erase(contact, organizationId), /has no contact/)
    assert.ok(await findContact(test.db, ours.organizationId, contactId))
  })
})
