import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import {
  createCallingOrganization,
  execute,
  untilBlocked,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import { watchHints } from '../../../tests/support/watch-hints.ts'
import { ApiError } from '../../contract/api-error.ts'
import { call as callSchema, callInput, type Call } from '../../contract/calls.ts'
import { newId } from '../../runtime/ids.ts'
import { somePrincipal, someVisit } from '../../../tests/support/organization-fixture.ts'
import { addDoNotCall } from '../organizations/do-not-call.ts'
import { defaultPolicy } from '../organizations/calling-policy.ts'
import { unlimitedStorage } from '../organizations/storage-quotas.ts'
import type { EndedCall } from './lifecycle/ended-call.ts'
import { createEndCall } from './lifecycle/end-call.ts'
import { findCall } from './call-store.ts'
import { cancelCall } from './cancel-call.ts'
import { getCall } from './get-call.ts'
import { listCalls } from './list-calls.ts'
import { placeCall } from './place-call.ts'
import { placeManualCall } from './place-manual-call.ts'

let test: TestDatabase
let organization: CallingOrganization
let ended: EndedCall[] = []

before(async () => {
  test = await createTestDatabase()
  organization = await createCallingOrganization(test.db)
})
after(() => test.drop())

const hints = watchHints(() => test.db)

const endCall = createEndCall([
  async (_, calls) => {
    ended.push(...calls)
  },
])

const context = {
  principal: somePrincipal,
  requestId: 'r',
  visit: someVisit,
  version: '2026-07-16',
  parts: { quotas: unlimitedStorage, endCall },
} as const

const place = (body: unknown, { organizationId } = organization): Promise<Call> =>
  hints.transaction((db) =>
    placeCall(
      { params: {}, query: {}, body: callInput.parse(body) },
      { ...context, db, organizationId },
    ),
  )

const cancel = (callId: string, { organizationId } = organization): Promise<Call> =>
  hints.transaction((db) =>
    cancelCall(
      { params: { call_id: callId }, query: {}, body: {} },
      { ...context, db, organizationId },
    ),
  )

const get = (callId: string, { organizationId } = organization): Promise<Call> =>
  getCall(
    { params: { call_id: callId }, query: {}, body: {} },
    { ...context, db: test.db, organizationId },
  )

type ListQuery = Parameters<typeof listCalls>[0]['query']

const list = (query: Partial<ListQuery>, { organizationId } = organization) =>
  listCalls(
    { params: {}, query: { limit: 100, ...query }, body: {} },
    { ...context, db: test.db, organizationId },
  )

const known = () => ({ agent_id: organization.agentId, contact_id: organization.contactId })

const refused = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  return error
}

describe('placing a call', () => {
  it('queues it, returns the Call of the contract, and hints after the commit', async () => {
    hints.take()
    const placed = await place(known())
    assert.deepEqual(callSchema.parse(placed), placed)
    assert.equal(placed.status, 'queued')
    assert.equal(placed.answer_status, undefined)
    assert.deepEqual(await get(placed.id), placed)
    assert.deepEqual(hints.takeChannels(), ['outdial_calls'])
  })

  it('upserts a recipient in the same transaction', async () => {
    const recipient = { external_id: 'p-1', name: 'Ann', phone_number: '+12025550108' }
    const first = await place({ agent_id: organization.agentId, recipient })
    const again = await place({ agent_id: organization.agentId, recipient })
    assert.equal(first.contact_id, again.contact_id)
    assert.notEqual(first.id, again.id)
  })

  it('stores neither contact nor call when it is refused', async () => {
    const recipient = { external_id: 'p-2', name: 'Bob', phone_number: '+12025550109' }
    const error = await refused(place({ agent_id: newId(), recipient }))
    assert.equal(error.code, 'resource_not_found')
    const rows = await execute(test.db, `select from contacts where external_id = 'p-2'`)
    assert.equal(rows.length, 0)
  })

  it('names the unknown id in a 404', async () => {
    for (const agentId of [newId(), 'no-uuid']) {
      const error = await refused(place({ ...known(), agent_id: agentId }))
      assert.deepEqual(
        [error.code, error.details?.fields],
        ['resource_not_found', [{ path: 'agent_id', code: 'not_found' }]],
      )
    }
    const error = await refused(place({ ...known(), contact_id: newId() }))
    assert.deepEqual(error.details?.fields, [{ path: 'contact_id', code: 'not_found' }])
  })

  it('accepts neither agent nor contact of another organization', async () => {
    const other = await createCallingOrganization(test.db)
    for (const body of [
      { ...known(), agent_id: other.agentId },
      { ...known(), contact_id: other.contactId },
    ]) {
      assert.equal((await refused(place(body))).code, 'resource_not_found')
    }
  })

  it('refuses an archived agent as a conflict', async () => {
    const other = await createCallingOrganization(test.db)
    await execute(test.db, 'update agents set archived_at = now() where id = $1', [other.agentId])
    const body = { agent_id: other.agentId, contact_id: other.contactId }
    assert.equal((await refused(place(body, other))).code, 'resource_state_conflict')
  })

  it('refuses a destination the policy does not allow, and one on the do-not-call list', async () => {
    const other = await createCallingOrganization(test.db, {
      policy: defaultPolicy,
      phoneNumber: '+12025550101',
    })
    const recipient = { external_id: 'x', name: 'X', phone_number: '+442071838750' }
    const abroad = await refused(place({ agent_id: other.agentId, recipient }, other))
    assert.equal(abroad.code, 'unsupported_destination')
    await addDoNotCall(test.db, other.organizationId, '+12025550101')
    const body = { agent_id: other.agentId, contact_id: other.contactId }
    assert.equal((await refused(place(body, other))).code, 'recipient_blocked_by_policy')
  })

  it('shares one lane among callees of one zone and opens another for the next', async () => {
    const other = await createCallingOrganization(test.db)
    const numbers = ['+12025550120', '+12025550121', '+498912345678']
    await Promise.all(
      numbers.map((phone_number) =>
        place(
          {
            agent_id: other.agentId,
            recipient: { external_id: phone_number, name: 'N', phone_number },
          },
          other,
        ),
      ),
    )
    const lanes = await execute<{ time_zones: string }>(
      test.db,
      'select time_zones from lanes where organization_id = $1 order by 1',
      [other.organizationId],
    )
    assert.deepEqual(
      lanes.map((lane) => lane.time_zones),
      ['America/New_York', 'Europe/Berlin'],
    )
  })

  it('takes a hundred at once', async () => {
    const other = await createCallingOrganization(test.db)
    const body = { agent_id: other.agentId, contact_id: other.contactId }
    const placed = await Promise.all(Array.from({ length: 100 }, () => place(body, other)))
    assert.equal(new Set(placed.map((one) => one.id)).size, 100)
    assert.equal((await list({}, other)).data.length, 100)
  })
})

describe('reading calls', () => {
  it('returns 404 for another organization’s call and for a manual one', async () => {
    const other = await createCallingOrganization(test.db)
    const placed = await place(known())
    assert.equal((await refused(get(placed.id, other))).code, 'resource_not_found')
    const manual = await test.db.transaction((tx) =>
      placeManualCall(tx, other.organizationId, {
        agentId: other.agentId,
        phoneNumber: '+12025550111',
      }),
    )
    assert.equal((await findCall(test.db, other.organizationId, manual.id))?.origin, 'manual')
    assert.equal(await findCall(test.db, organization.organizationId, manual.id), undefined)
    assert.equal((await refused(get(manual.id, other))).code, 'resource_not_found')
    assert.equal((await refused(cancel(manual.id, other))).code, 'resource_not_found')
    assert.deepEqual((await list({}, other)).data, [])
  })

  it('filters by every filter of the contract', async () => {
    const other = await createCallingOrganization(test.db)
    const body = { agent_id: other.agentId, contact_id: other.contactId }
    const placed = await place(body, other)
    const [batch, run] = [newId(), newId()]
    await execute(test.db, 'update calls set batch_id = $1, automation_run_id = $2 where id = $3', [
      batch,
      run,
      placed.id,
    ])
    const day = (offset: number): string =>
      new Date(Date.parse(placed.created_at) + offset * 86_400_000).toISOString()
    const matching: Partial<ListQuery>[] = [
      { status: 'queued' },
      { contact_id: other.contactId },
      { agent_id: other.agentId },
      { batch_id: batch },
      { automation_run_id: run },
      { created_after: day(-1), created_before: day(1) },
      { status: 'queued', contact_id: other.contactId, batch_id: batch },
    ]
    for (const filter of matching) {
      const { data } = await list(filter, other)
      assert.deepEqual(
        data.map((one) => one.id),
        [placed.id],
        JSON.stringify(filter),
      )
    }
    const missing: Partial<ListQuery>[] = [
      { status: 'failed' },
      { contact_id: newId() },
      { agent_id: 'no-uuid' },
      { batch_id: newId() },
      { automation_run_id: newId() },
      { created_after: day(1) },
      { created_before: day(-1) },
    ]
    for (const filter of missing) {
      assert.deepEqual((await list(filter, other)).data, [], JSON.stringify(filter))
    }
  })

  it('pages through every call once, newest first', async () => {
    const other = await createCallingOrganization(test.db)
    const body = { agent_id: other.agentId, contact_id: other.contactId }
    for (let i = 0; i < 7; i += 1) await place(body, other)
    const seen: string[] = []
    let next: { sort: string; id: string } | null | undefined
    do {
      const page = await list({ limit: 3, ...(next && { cursor: next }) }, other)
      seen.push(...page.data.map((one) => one.created_at))
      next = page.next
    } while (next)
    assert.equal(seen.length, 7)
    assert.deepEqual(seen, seen.toSorted().toReversed())
  })
})

describe('cancelling a call', () => {
  it('ends a queued one at once, with all that must commit with it', async () => {
    const placed = await place(known())
    ended = []
    const cancelled = await cancel(placed.id)
    assert.deepEqual(callSchema.parse(cancelled), cancelled)
    assert.deepEqual([cancelled.status, cancelled.answer_status], ['cancelled', 'unknown'])
    assert.ok(cancelled.cancelled_at && cancelled.ended_at && cancelled.cancel_requested_at)
    assert.deepEqual(
      ended.map((call) => [call.callId, call.status, call.connectedAt]),
      [[placed.id, 'cancelled', null]],
    )
  })

  it('returns a finished one unchanged', async () => {
    const placed = await place(known())
    const first = await cancel(placed.id)
    ended = []
    assert.deepEqual(await cancel(placed.id), first)
    assert.deepEqual(ended, [])
  })

  for (const status of ['dialing', 'in_progress'] as const) {
    it(`asks one that is ${status} to end, once, and hints`, async () => {
      const placed = await place(known())
      await execute(
        test.db,
        'update calls set status = $1, lease_token = gen_random_uuid(), dialing_at = now() where id = $2',
        [status, placed.id],
      )
      hints.take()
      ended = []
      const asked = await cancel(placed.id)
      assert.equal(asked.status, status)
      assert.ok(asked.cancel_requested_at)
      assert.equal(asked.cancelled_at, undefined)
      assert.deepEqual(hints.takeChannels(), ['outdial_cancellations'])
      assert.deepEqual(await cancel(placed.id), asked)
      assert.deepEqual(ended, [])
    })
  }

  it('is not missed by a call that starts dialling at this moment', async () => {
    const placed = await place(known())
    let cancelling: Promise<Call> | undefined
    await test.db.transaction(async (tx) => {
      await execute(
        tx,
        `update calls set status = 'dialing', lease_token = gen_random_uuid() where id = $1`,
        [placed.id],
      )
      cancelling = cancel(placed.id)
      await untilBlocked(test.db)
    })
    const asked = await cancelling
    assert.equal(asked?.status, 'dialing')
    assert.ok(asked.cancel_requested_at)
  })

  it('refuses a call of another organization', async () => {
    const other = await createCallingOrganization(test.db)
    const placed = await place(known())
    assert.equal((await refused(cancel(placed.id, other))).code, 'resource_not_found')
    assert.equal((await get(placed.id)).status, 'queued')
  })
})
