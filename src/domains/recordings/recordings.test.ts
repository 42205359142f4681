import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { recording as recordingSchema } from '../../contract/recordings.ts'
import type { Database } from '../../database/database.ts'
import type { Position } from '../../contract/paging.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newOrganizationId } from '../organizations/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import {
  contextOf as plainContextOf,
  createOrganizationFixture,
  type OrganizationFixture,
} from '../../../tests/support/organization-fixture.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { getRecording } from './get-recording.ts'
import { listRecordings } from './list-recordings.ts'
import {
  completeRecording,
  failRecording,
  findRecordingAudio,
  insertRecording,
  recordingIdOf,
  recordingStatus,
  type RecordedCall,
} from './recording-store.ts'

let test: TestDatabase
let ours: OrganizationFixture
before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  ours = await createOrganizationFixture(test.db)
})

const clock = createManualTime(new Date('2026-07-16T08:00:00.700Z'))
const urls = {
  clock,
  signDownloadUrl: (id: string, expiresAt: Date) =>
    `http://media.example/recordings/${id}?e=${expiresAt.getTime()}`,
}
const contextOf = (db: Database, organizationId: OrganizationId) => ({
  ...plainContextOf(db, organizationId),
  parts: { downloadUrls: urls },
})

const audio = {
  storageKey: 'a/b.mp3',
  peaksKey: 'a/b.peaks.json',
  durationSeconds: 61,
  sizeBytes: 244_000,
  frames: 3050,
}
const begin = async (
  callId: string,
  { origin = 'api', recordedAt = new Date('2026-07-16T07:00:00Z'), contactId = newId() } = {},
): Promise<RecordedCall> => {
  const call = { organizationId: ours.organizationId, callId }
  await test.db.transaction((tx) => insertRecording(tx, { ...call, contactId, origin, recordedAt }))
  return call
}
const record = async (callId: string, more: Parameters<typeof begin>[1] = {}) => {
  const call = await begin(callId, more)
  assert.equal(await completeRecording(test.db, call, audio), true)
  return recordingIdOf(call)
}
const contactOf = async (callId: string): Promise<string> => {
  const statement = { name: 'test.contact', text: `select contact_id from calls where id = $1` }
  const row = await test.db.row<{ contact_id: string }>(statement, [callId])
  assert.ok(row)
  return row.contact_id
}
type Query = Parameters<typeof listRecordings>[0]['query']
const list = (query: Partial<Query> = {}, organizationId = ours.organizationId) =>
  listRecordings(
    { params: {}, query: { limit: 20, ...query }, body: {} },
    contextOf(test.db, organizationId),
  )
const get = (id: string, seconds = 900, organizationId = ours.organizationId) =>
  getRecording(
    { params: { recording_id: id }, query: { expires_in: seconds }, body: {} },
    contextOf(test.db, organizationId),
  )

describe('a recording', () => {
  it('has an id derived from its call: a UUIDv5, always the same', async () => {
    const call = { organizationId: newOrganizationId(), callId: newId() }
    assert.match(recordingIdOf(call), /^[0-9a-f]{8}-[0-9a-f]{4}-5/)
    assert.equal(recordingIdOf(call), recordingIdOf({ ...call }))
    assert.notEqual(recordingIdOf(call), recordingIdOf({ ...call, callId: newId() }))
  })

  it('is shown only after its MP3 is stored', async () => {
    const call = await begin(await ours.placeCall())
    assert.equal(await recordingStatus(test.db, call), 'encoding')
    assert.deepEqual((await list()).data, [])
    await assert.rejects(get(recordingIdOf(call)), { code: 'resource_not_found' })
    assert.equal(await findRecordingAudio(test.db, recordingIdOf(call)), undefined)
    await completeRecording(test.db, call, audio)
    assert.equal((await list()).data.length, 1)
  })

  it('names its call if the API made it, and its contact', async () => {
    const callId = await ours.placeCall()
    const contactId = await contactOf(callId)
    const id = await record(callId, { contactId })
    const expected = {
      object: 'recording',
      id,
      call_id: callId,
      contact_id: contactId,
      recorded_at: '2026-07-16T07:00:00.000Z',
      duration_seconds: 61,
      media_type: 'audio/mpeg',
    }
    assert.deepEqual((await list()).data, [expected])
    const { download_url: _, download_url_expires_at: __, ...got } = await get(id)
    assert.deepEqual(got, expected)
  })

  it('hides the call of a manual dial, and a deleted contact', async () => {
    await record(await ours.dial(), { origin: 'manual', contactId: newId() })
    const { data } = await list()
    assert.deepEqual([data[0]?.call_id, data[0]?.contact_id], [null, null])
    assert.deepEqual(recordingSchema.array().parse(data), data)
  })

  it('begins once, however often the end of its call is repeated', async () => {
    const callId = await ours.placeCall()
    const id = await record(callId)
    await begin(callId)
    assert.equal((await get(id)).id, id)
    assert.equal(await completeRecording(test.db, { ...ours, callId: newId() }, audio), false)
  })

  it('may have no duration, and may be lost', async () => {
    const call = await begin(await ours.placeCall())
    await completeRecording(test.db, call, { ...audio, durationSeconds: null })
    assert.equal((await list()).data[0]?.duration_seconds, null)
    assert.equal(await failRecording(test.db, call), false)
    const lost = await begin(await ours.placeCall('+12025550101'))
    assert.equal(await failRecording(test.db, lost), true)
    assert.equal(await recordingStatus(test.db, lost), 'failed')
    assert.equal((await list()).data.length, 1)
  })

  it('is found by the media origin without an organization', async () => {
    const id = await record(await ours.placeCall())
    assert.deepEqual(await findRecordingAudio(test.db, id), {
      storageKey: 'a/b.mp3',
      sizeBytes: 244_000,
      recordedAt: new Date('2026-07-16T07:00:00Z'),
    })
  })

  it('is unknown to other organizations', async () => {
    const callId = await ours.placeCall()
    const id = await record(callId)
    const other = await createOrganizationFixture(test.db)
    assert.deepEqual((await list({}, other.organizationId)).data, [])
    await assert.rejects(get(id, 900, other.organizationId), { code: 'resource_not_found' })
    const elsewhere = { organizationId: other.organizationId, callId }
    assert.equal(await completeRecording(test.db, elsewhere, audio), false)
    assert.equal(await recordingStatus(test.db, elsewhere), undefined)
  })
})

describe('download URLs', () => {
  it('are in every row of the list on request, and live to the millisecond as long as requested', async () => {
    const id = await record(await ours.placeCall())
    const [row] = (await list({ include: 'download_url' })).data
    assert.equal(row?.download_url_expires_at, '2026-07-16T08:15:00.700Z')
    assert.equal(
      row?.download_url,
      `http://media.example/recordings/${id}?e=${Date.parse('2026-07-16T08:15:00.700Z')}`,
    )
    const [short] = (await list({ include: 'download_url', expires_in: 60 })).data
    assert.equal(short?.download_url_expires_at, '2026-07-16T08:01:00.700Z')
    const [without] = (await list()).data
    assert.equal(without && 'download_url' in without, false)
  })

  it('are new for every GET of one recording', async () => {
    const id = await record(await ours.placeCall())
    const first = await get(id, 3600)
    assert.equal(first.download_url_expires_at, '2026-07-16T09:00:00.700Z')
    clock.advance(1000)
    const second = await get(id, 3600)
    assert.notEqual(second.download_url, first.download_url)
    assert.deepEqual(recordingSchema.parse(second), second)
  })
})

describe('GET /recordings', () => {
  const recordMany = async (count: number): Promise<string[]> => {
    const ids: string[] = []
    for (let index = 0; index < count; index += 1) {
      const recordedAt = new Date(Date.UTC(2026, 6, 16, 7, index))
      ids.unshift(await record(await ours.placeCall(), { recordedAt }))
    }
    return ids
  }

  it('pages by recording time, newest first', async () => {
    const ids = await recordMany(5)
    const seen: string[] = []
    let cursor: Position | null = null
    do {
      const page: Awaited<ReturnType<typeof list>> = await list({
        limit: 2,
        ...(cursor && { cursor }),
      })
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.next
    } while (cursor)
    assert.deepEqual(seen, ids)
  })

  it('filters by call, batch and run, with a cursor bound to them', async () => {
    const batchId = newId()
    const runId = newId()
    const calls = [await ours.placeCall(), await ours.placeCall(), await ours.placeCall()]
    const change = {
      name: 'test.work',
      text: 'update calls set batch_id = $2, automation_run_id = $3 where id = any($1)',
    }
    await test.db.run(change, [calls.slice(0, 2), batchId, runId])
    const ids = await Promise.all(calls.map((callId) => record(callId)))
    const found = async (query: Partial<Query>) =>
      (await list(query)).data.map(({ id }) => id).toSorted()
    assert.deepEqual(await found({ call_id: calls[2] }), [ids[2]])
    assert.deepEqual(await found({ batch_id: batchId }), ids.slice(0, 2).toSorted())
    assert.deepEqual(await found({ automation_run_id: runId }), ids.slice(0, 2).toSorted())
    const first = await list({ batch_id: batchId, limit: 1 })
    const second = await list({ batch_id: batchId, limit: 1, cursor: first.next ?? undefined })
    assert.deepEqual(
      [...first.data, ...second.data].map(({ id }) => id).toSorted(),
      ids.slice(0, 2).toSorted(),
    )
    assert.equal(second.next, null)
  })

  it('finds nothing by the id of a call or batch that the API did not make', async () => {
    const callId = await ours.placeCall()
    const batchId = newId()
    const change = { name: 'test.batch', text: 'update calls set batch_id = $2 where id = $1' }
    await test.db.run(change, [callId, batchId])
    await record(callId, { origin: 'cli' })
    assert.deepEqual((await list({ call_id: callId })).data, [])
    assert.deepEqual((await list({ batch_id: batchId })).data, [])
    assert.equal((await list()).data.length, 1)
  })

  it('filters by contact and by recording time', async () => {
    const [newest, , oldest] = await recordMany(3)
    const ids = async (query: Partial<Query>) => (await list(query)).data.map(({ id }) => id)
    assert.deepEqual(await ids({ created_before: '2026-07-16T07:01:00.000000Z' }), [oldest])
    assert.deepEqual(await ids({ created_after: '2026-07-16T07:02:00.000000Z' }), [newest])
    const callId = await ours.placeCall('+12025550107')
    const contactId = await contactOf(callId)
    const theirs = await record(callId, { contactId })
    assert.deepEqual(await ids({ contact_id: contactId }), [theirs])
    assert.deepEqual(await ids({ contact_id: newId() }), [])
    assert.deepEqual(await ids({ contact_id: 'nobody' }), [])
  })
})
