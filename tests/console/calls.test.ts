import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { sql } from '../../src/database/database.ts'
import {
  completeRecording,
  findRecording,
  insertRecording,
  recordingIdOf,
} from '../../src/domains/recordings/recording-store.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { createOrganizationFixture } from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let admin: Browser
let operator: Browser
let viewer: Browser
let placeCall: (phoneNumber: string) => Promise<string>

before(async () => {
  app = await startComposedConsole()
  const fixture = await createOrganizationFixture(app.db)
  organizationId = fixture.organizationId
  placeCall = (phoneNumber) => fixture.placeCall(phoneNumber)
  const signIn = async (role: 'admin' | 'operator' | 'viewer') =>
    (await app.signInAs(organizationId, role, `${role}@calls.test`)).browser
  admin = await signIn('admin')
  operator = await signIn('operator')
  viewer = await signIn('viewer')
})
after(() => app.stop())

/** The newest entry of the audit log. */
const newestEntry = async (): Promise<Record<string, unknown>> => {
  const { body } = await admin.send('GET', '/console/audit?limit=1')
  const [entry] = body['data'] as Record<string, unknown>[]
  assert.ok(entry)
  return entry
}

const contactOf = async (callId: string): Promise<string> => {
  const statement = sql('test.contactOfCall', 'select contact_id from calls where id = $1')
  return (await app.db.row<{ contact_id: string }>(statement, [callId]))?.contact_id ?? ''
}

const record = async (callId: string, recordedAt: Date): Promise<void> => {
  const call = { organizationId, callId }
  const contactId = await contactOf(callId)
  await app.db.transaction((tx) =>
    insertRecording(tx, { ...call, contactId, origin: 'dashboard', recordedAt }),
  )
  const audio = { storageKey: 'a.mp3', durationSeconds: 61, sizeBytes: 480_000, peaksKey: 'a.json' }
  assert.ok(await completeRecording(app.db, call, { ...audio, frames: 3050 }))
}

test('a call is placed again to the same person by the same agent', async () => {
  const callId = await placeCall('+12025550171')
  const again = await operator.send('POST', `/console/calls/${callId}/again`, {})
  assert.equal(again.status, 202, JSON.stringify(again.body))
  assert.notEqual(again.body['id'], callId)
  assert.equal(again.body['contact_id'], await contactOf(callId))
  const shown = await operator.send('GET', `/console/calls/${String(again.body['id'])}`)
  assert.equal(shown.body['origin'], 'dashboard')
  assert.equal(shown.body['phone_number'], '+12025550171')
  const entry = await newestEntry()
  assert.equal(entry['action'], 'call.again')
  assert.deepEqual((entry['target'] as { id: string }).id, again.body['id'])
  assert.equal((entry['after'] as { earlier_call_id: string }).earlier_call_id, callId)
})

test('nothing is made anew where nothing is exhausted, and then once', async () => {
  const callId = await placeCall('+12025550172')
  const path = `/console/calls/${callId}/reprocess`
  const refused = await operator.send('POST', path, {})
  assert.deepEqual([refused.status, refused.code], [409, 'resource_state_conflict'])
  const exhausted = sql(
    'test.exhaust',
    `insert into results (organization_id, call_id, kind, status, reason)
     values ($1, $2, 'summary', 'exhausted', 'provider_error')`,
  )
  await app.db.run(exhausted, [organizationId, callId])
  assert.equal((await operator.send('POST', path, {})).status, 200)
  const shown = await operator.send('GET', `/console/calls/${callId}`)
  const [summary] = shown.body['results'] as { status: string }[]
  assert.equal(summary?.status, 'processing')
  assert.equal((await newestEntry())['action'], 'call.reprocess')
  assert.equal((await operator.send('POST', path, {})).status, 409)
})

test('recordings of every origin are listed, masked for viewers, and deleted by administrators', async () => {
  const older = await placeCall('+12025550173')
  const newer = await placeCall('+12025550174')
  await record(older, new Date('2026-07-16T08:00:00Z'))
  await record(newer, new Date('2026-07-16T09:00:00Z'))
  const { body } = await operator.send('GET', '/console/recordings')
  const rows = body['data'] as Record<string, unknown>[]
  assert.deepEqual(
    rows.map((row) => [row['call_id'], row['phone_number'], row['size_bytes']]),
    [
      [newer, '+12025550174', 480_000],
      [older, '+12025550173', 480_000],
    ],
  )
  const until = '/console/recordings?created_before=2026-07-16T09:00:00Z'
  assert.equal(((await operator.send('GET', until)).body['data'] as unknown[]).length, 1)
  const backwards = `${until}&created_after=2026-07-16T10:00:00Z`
  assert.equal((await operator.send('GET', backwards)).status, 400)
  const none = await operator.send('GET', '/console/recordings?contact_id=nobody')
  assert.deepEqual(none.body, { data: [], next_cursor: null })
  const first = await operator.send('GET', '/console/recordings?limit=1')
  const cursor = String(first.body['next_cursor'])
  const second = await operator.send('GET', `/console/recordings?limit=1&cursor=${cursor}`)
  assert.equal((second.body['data'] as { call_id: string }[])[0]?.call_id, older)

  const masked = JSON.stringify((await viewer.send('GET', '/console/recordings')).body)
  assert.ok(!masked.includes('2025550173') && masked.includes(older))
  const path = `/console/calls/${newer}/recording`
  assert.equal((await viewer.send('GET', path)).status, 403)
  assert.ok((await operator.send('GET', path)).body['download_url'])
  assert.equal((await operator.send('DELETE', path)).status, 403)
  assert.equal((await admin.send('DELETE', path)).status, 200)
  assert.equal((await newestEntry())['action'], 'recording.delete')
  assert.equal((await operator.send('GET', path)).status, 404)
  const id = recordingIdOf({ organizationId, callId: newer })
  assert.equal(await findRecording(app.db, organizationId, id), undefined)
  assert.equal((await admin.send('DELETE', path)).status, 409)
})
