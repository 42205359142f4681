import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnsweredRequest } from '../../contract/answered-request.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Database } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { systemTime } from '../../runtime/time.ts'
import { RequestNotes } from './request-notes.ts'
import type { NewRequestRow } from './request-store.ts'

const createRig = (write: (rows: NewRequestRow[]) => Promise<void>) => {
  let dropped = 0
  const database = {
    run: async (_statement: unknown, [rows]: readonly [string]) => {
      await write(JSON.parse(rows) as NewRequestRow[])
      return 0
    },
  } as unknown as Database
  const telemetry = { count: () => void (dropped += 1) }
  const notes = new RequestNotes({ database, clock: systemTime, logger: silentLogger, telemetry })
  return { notes, dropped: () => dropped }
}

const requestOf = (
  given: Partial<AnsweredRequest> = {},
  organization = newId(),
): AnsweredRequest => ({
  principal: {
    kind: 'key',
    organizationId: organization as OrganizationId,
    apiKeyId: newId(),
  } as AnsweredRequest['principal'],
  requestId: newId(),
  method: 'POST',
  target: '/calls',
  operation: 'placeCall',
  template: '/calls',
  params: {},
  status: 202,
  durationMs: 1,
  isAllowed: true,
  isClaimed: false,
  isReplay: false,
  body: {},
  bodyBytes: 2,
  answer: '{}',
  location: undefined,
  ...given,
})

const read = { method: 'GET', status: 200, answer: '{}' } as const
const times = (count: number, work: () => void): void => {
  for (let each = 0; each < count; each += 1) work()
}

test('what is noted is written together, in its order', async () => {
  const written: NewRequestRow[][] = []
  const { notes, dropped } = createRig(async (rows) => void written.push(rows))
  const sent = Array.from({ length: 450 }, () => requestOf())
  sent.forEach(notes.note)
  await notes.stop()
  assert.deepEqual(
    written.map((rows) => rows.length),
    [200, 200, 50],
  )
  assert.deepEqual(
    written.flat().map((row) => row.request_id),
    sent.map(({ requestId }) => requestId),
  )
  assert.equal(dropped(), 0)
})

test('a flood is bounded: reads give way before changes, and one organization before others', async () => {
  const written: NewRequestRow[] = []
  const { notes, dropped } = createRig(async (rows) => void written.push(...rows))
  const loud = newId()
  times(5_000, () => notes.note(requestOf(read, loud)))
  times(5_000, () => notes.note(requestOf({}, loud)))
  times(100, () => notes.note(requestOf({})))
  await notes.stop()
  const of = (organization: string) =>
    written.filter((row) => row.organization_id === organization && row.method === 'GET').length
  assert.equal(of(loud), 1_000)
  assert.equal(written.filter(({ organization_id: id }) => id === loud).length, 2_000)
  assert.equal(written.length, 2_100)
  assert.equal(dropped(), 8_000)
})

test('of refusals that no allowance bounds a few in a minute are kept', async () => {
  const written: NewRequestRow[] = []
  const { notes } = createRig(async (rows) => void written.push(...rows))
  const organization = newId()
  const refused = {
    status: 429,
    isAllowed: false,
    answer: '{"error":{"code":"rate_limit_exceeded"}}',
  }
  times(1_000, () => notes.note(requestOf(refused, organization)))
  times(10, () => notes.note(requestOf({}, organization)))
  await notes.stop()
  assert.equal(written.filter(({ status }) => status === 429).length, 120)
  assert.equal(written.filter(({ status }) => status === 202).length, 10)
})

test('what cannot be written is counted, and the next one is written again', async () => {
  let isDown = true
  const written: NewRequestRow[] = []
  const { notes, dropped } = createRig(async (rows) => {
    if (isDown) throw new Error('down')
    written.push(...rows)
  })
  times(3, () => notes.note(requestOf()))
  await notes.flush()
  isDown = false
  notes.note(requestOf())
  await notes.flush()
  assert.deepEqual([dropped(), written.length], [3, 1])
})

test('a large body does not wait in memory, and is described within bounds', async () => {
  const written: NewRequestRow[] = []
  const { notes } = createRig(async (rows) => void written.push(...rows))
  const body = { contact_ids: Array.from({ length: 5_000 }, () => newId()) }
  notes.note(requestOf({ body, bodyBytes: 200_000 }))
  body.contact_ids.length = 0
  await notes.stop()
  assert.match(JSON.stringify(written[0]?.request_body), /… 4995 more/)
})
