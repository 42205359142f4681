import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  createBatchFixture,
  recipients,
  type BatchFixture,
} from '../../../tests/support/batch-fixture.ts'
import { contactBody } from '../../../tests/support/organization-fixture.ts'
import { execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { ApiError } from '../../contract/api-error.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { newId } from '../../runtime/ids.ts'
import { findOrMakeManualContact } from '../contacts/manual-contact.ts'
import { upsertRecipient } from '../contacts/upsert-recipient.ts'
import { defaultPolicy } from '../organizations/calling-policy.ts'
import { addDoNotCall } from '../organizations/do-not-call.ts'

let test: TestDatabase
let batches: BatchFixture

/** A Friday at noon in New York. */
const clock = createManualTime(new Date('2026-07-17T16:00:00Z'))

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  batches = await createBatchFixture(test.db, { policy: defaultPolicy }, clock)
})

const upsert = (members: Parameters<typeof contactBody>[0]) =>
  test.db.transaction((tx) => upsertRecipient(tx, batches.organizationId, contactBody(members)))

const count = async (table: 'contacts' | 'calls' | 'batches' | 'lanes'): Promise<number> => {
  const [row] = await execute<{ n: number }>(
    test.db,
    `select count(*) as n from ${table} where organization_id = $1`,
    [batches.organizationId],
  )
  return row?.n ?? 0
}

/** The error of a refused body, which left no rows. */
const refusal = async (members: Parameters<BatchFixture['create']>[1]): Promise<ApiError> => {
  const before = await count('contacts')
  let refused: ApiError | undefined
  await assert.rejects(batches.create(1, members), (error: ApiError) => {
    refused = error
    return error.name === 'ApiError'
  })
  assert.equal(await count('contacts'), before)
  assert.deepEqual([await count('calls'), await count('batches'), await count('lanes')], [0, 0, 0])
  return refused ?? assert.fail()
}

const window = (start: string, end: string, zone = 'America/New_York') => ({
  time_zone: zone,
  weekdays: ['monday'],
  start_time: start,
  end_time: end,
})

describe('a batch body is checked against the organization', () => {
  it('an unknown agent is 404 with its path, for any id', async () => {
    for (const agentId of [newId(), 'nobody']) {
      const error = await refusal({ agent_id: agentId })
      assert.equal(error.code, 'resource_not_found')
      assert.deepEqual(error.details, { fields: [{ path: 'agent_id', code: 'not_found' }] })
    }
  })

  it('an archived agent is a conflict', async () => {
    await execute(test.db, 'update agents set archived_at = now() where organization_id = $1', [
      batches.organizationId,
    ])
    assert.equal((await refusal({})).code, 'resource_state_conflict')
  })

  it('each unknown contact is named, also one of another organization', async () => {
    const stranger = await createBatchFixture(test.db)
    const ids = [batches.contactId, newId(), 'nobody', stranger.contactId]
    const error = await refusal({ contact_ids: ids })
    assert.equal(error.code, 'resource_not_found')
    assert.deepEqual(
      error.details?.fields,
      [1, 2, 3].map((at) => ({ path: `contact_ids[${at}]`, code: 'not_found' })),
    )
  })

  it('the list of unknown contacts is cut after 50', async () => {
    const error = await refusal({ contact_ids: Array.from({ length: 60 }, newId) })
    assert.equal(error.details?.fields?.length, 50)
    assert.equal(error.details?.truncated, true)
  })

  it('a number that can never be dialled is named by its path', async () => {
    const error = await refusal({
      recipients: [
        ...recipients(1),
        { external_id: 'p', name: 'Premium', phone_number: '+19005551234' },
        { external_id: 'b', name: 'Berlin', phone_number: '+493012345678' },
      ],
    })
    assert.equal(error.code, 'unsupported_destination')
    assert.deepEqual(
      error.details?.fields,
      [1, 2].map((at) => ({
        path: `recipients[${at}].phone_number`,
        code: 'unsupported_destination',
      })),
    )
  })

  it('a known contact that can never be dialled is named by its index', async () => {
    const { contact } = await upsert({ phone_number: '+493012345678' })
    const error = await refusal({ contact_ids: [batches.contactId, contact.id] })
    assert.deepEqual(error.details?.fields, [
      { path: 'contact_ids[1]', code: 'unsupported_destination' },
    ])
  })

  it('a start 366 days ahead is accepted, a moment later is too_large', async () => {
    const ahead = (ms: number) =>
      new Date(clock.now().getTime() + 366 * 86_400_000 + ms).toISOString()
    const error = await refusal({ scheduled_start_at: ahead(1) })
    assert.equal(error.code, 'validation_error')
    assert.deepEqual(error.details?.fields, [{ path: 'scheduled_start_at', code: 'too_large' }])
    const batch = await batches.create(1, { scheduled_start_at: ahead(0) })
    assert.equal(batch.scheduled_start_at, ahead(0))
  })

  it('a window outside the policy’s hours is no_overlap_with_policy', async () => {
    const error = await refusal({ calling_window: window('21:00', '24:00') })
    assert.equal(error.code, 'validation_error')
    assert.deepEqual(error.details?.fields, [
      { path: 'calling_window', code: 'no_overlap_with_policy' },
    ])
  })

  it('the policy applies in the callee’s zone: a recipient who can never be called is named', async () => {
    const error = await refusal({
      recipients: [
        ...recipients(1),
        { external_id: 'h', name: 'Honolulu', phone_number: '+18085550123' },
      ],
      calling_window: window('08:00', '12:00'),
    })
    assert.deepEqual(error.details?.fields, [
      { path: 'recipients[1].phone_number', code: 'no_overlap_with_policy' },
    ])
  })

  it('a minute of overlap suffices, and the window is stored with every lane', async () => {
    const calling_window = window('20:59', '23:00')
    const batch = await batches.create(2, { calling_window })
    assert.deepEqual(batch.calling_window, calling_window)
    const lanes = await execute<{ calling_window: object; paused: boolean }>(
      test.db,
      'select calling_window, paused from lanes where source_id = $1',
      [batch.id],
    )
    assert.deepEqual(lanes, [{ calling_window, paused: true }])
  })

  it('a number on the do-not-call list is no error', async () => {
    await addDoNotCall(test.db, batches.organizationId, '+12025550000')
    assert.equal((await batches.create(1)).status, 'draft')
  })

  it('callees of different zones get separate lanes', async () => {
    const numbers = ['+12025550111', '+13125550111', '+12025550112', '+18005550111']
    const people = numbers.map((phone_number) => ({
      external_id: phone_number,
      name: 'Person',
      phone_number,
    }))
    const batch = await batches.create(0, { recipients: people })
    assert.equal(batch.total_recipients, 4)
    const lanes = await execute<{ time_zones: string }>(
      test.db,
      'select time_zones from lanes where source_id = $1 order by time_zones',
      [batch.id],
    )
    assert.deepEqual(
      lanes.map((lane) => lane.time_zones),
      ['', 'America/Chicago', 'America/New_York'],
    )
  })
})

describe('recipients are upserted together with the batch (D4)', () => {
  it('creates, updates and adopts, each as POST /contacts would', async () => {
    const known = await upsert({
      external_id: 'person-0',
      phone_number: '+12025550190',
      company: 'Old',
      city: 'London',
    })
    const manual = await test.db.transaction((tx) =>
      findOrMakeManualContact(tx, batches.organizationId, '+12025550001'),
    )
    const [first, second, third] = recipients(3)
    const batch = await batches.create(0, {
      recipients: [{ ...first, company: '' }, second, third],
    })
    const rows = await execute<Record<string, unknown>>(
      test.db,
      `select k.id, k.source, k.external_id, k.name, k.phone_number, k.company, k.city
         from calls c join contacts k on k.organization_id = c.organization_id and k.id = c.contact_id
        where c.batch_id = $1 order by c.id`,
      [batch.id],
    )
    const common = { source: 'public_api', company: null, city: null }
    assert.deepEqual(rows, [
      { ...common, ...first, id: known.contact.id, company: '', city: 'London' },
      { ...common, ...second, id: manual.id },
      { ...common, ...third, id: rows[2]?.['id'] },
    ])
  })

  it('an identity and a number of two contacts refuse the whole batch', async () => {
    await upsert({ external_id: 'someone', phone_number: '+12025550002' })
    const error = await refusal({ recipients: recipients(4) })
    assert.equal(error.code, 'contact_identity_conflict')
    assert.match(
      error.message,
      /^recipients\[2\]: .* belongs to .*external_id "someone", not to .*external_id "person-2"\.$/,
    )
  })

  it('a number that one recipient gives up is not free for another', async () => {
    await upsert({ external_id: 'person-0', phone_number: '+12025550001' })
    const error = await refusal({ recipients: recipients(2) })
    assert.equal(error.code, 'contact_identity_conflict')
    assert.match(error.message, /^recipients\[1\]: .*external_id "person-0"/)
  })

  it('ten simultaneous batches of the same new people create one contact each', async () => {
    const before = await count('contacts')
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const people = recipients(50, 200)
        return batches.create(0, { recipients: index % 2 ? people : people.toReversed() })
      }),
    )
    assert.equal(new Set(made.map((batch) => batch.id)).size, 10)
    assert.equal((await count('contacts')) - before, 50)
    assert.equal(await count('calls'), 500)
  })

  it('1,000 recipients are one batch, in the given order', async () => {
    const batch = await batches.create(1000)
    assert.equal(batch.pending_recipients, 1000)
    const [first] = await execute<{ phone_number: string }>(
      test.db,
      'select phone_number from calls where batch_id = $1 order by id limit 1',
      [batch.id],
    )
    assert.equal(first?.phone_number, '+12025550000')
  })
})

describe('batches are listed', () => {
  it('newest first, by state, page by page, and only those of the API', async () => {
    const made = []
    for (let index = 0; index < 5; index += 1) made.push(await batches.create(1))
    const newest = made.map((batch) => batch.id).toReversed()
    await execute(test.db, `update batches set origin = 'cli' where id = $1`, [newest[1]])
    await batches.start(newest[2] ?? '')
    const shown = newest.filter((_, index) => index !== 1)
    const first = await batches.list({ limit: 3 })
    assert.deepEqual(
      first.data.map((batch) => batch.id),
      shown.slice(0, 3),
    )
    assert.ok(first.next)
    const rest = await batches.list({ limit: 3, cursor: first.next })
    assert.deepEqual(
      rest.data.map((batch) => batch.id),
      shown.slice(3),
    )
    assert.equal(rest.next, null)
    const queued = await batches.list({ limit: 3, status: 'queued' })
    assert.deepEqual(
      queued.data.map((batch) => [batch.id, batch.queued_recipients]),
      [[newest[2], 1]],
    )
    await assert.rejects(batches.get(newest[1] ?? ''), { code: 'resource_not_found' })
  })

  it('another organization’s batch is unknown to every operation', async () => {
    const stranger = await createBatchFixture(test.db)
    const { id } = await stranger.create(1)
    for (const ask of [batches.get, batches.start, batches.pause, batches.cancel]) {
      await assert.rejects(ask(id), { code: 'resource_not_found' })
      await assert.rejects(ask('nobody'), { code: 'resource_not_found' })
    }
    assert.equal((await stranger.get(id)).status, 'draft')
  })
})
