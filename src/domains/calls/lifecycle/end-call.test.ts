import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  createCallingOrganization,
  execute,
  queueCalls,
  type CallingOrganization,
} from '../../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts'
import { newId } from '../../../runtime/ids.ts'
import { cancelQueued, requestCancel } from './cancel-queued-call.ts'
import { createEndCall, type CallEndSubscriber } from './end-call.ts'
import { endHeld } from './end-held-call.ts'

describe('every end of a call', () => {
  let test: TestDatabase
  let organization: CallingOrganization
  let heard: unknown[] = []
  before(async () => {
    test = await createTestDatabase()
    organization = await createCallingOrganization(test.db, { concurrency: 100 })
  })
  beforeEach(() => {
    heard = []
  })
  after(() => test.drop())

  const hear =
    (name: string): CallEndSubscriber<string> =>
    async (_, calls) => {
      await Promise.resolve()
      for (const { callId, status, learned } of calls) heard.push([name, callId, status, learned])
    }
  const endCall = createEndCall<string>([hear('first'), hear('second')])

  const queued = async (): Promise<string> => {
    const [row] = await queueCalls(test.db, organization, 1)
    return row?.id ?? ''
  }
  const dialling = async () => {
    const fence = { callId: await queued(), leaseToken: newId() }
    await execute(
      test.db,
      `update calls set status = 'dialing', dialing_at = now(), lease_token = $2 where id = $1`,
      [fence.callId, fence.leaseToken],
    )
    return { ...fence, organizationId: organization.organizationId }
  }
  const statusOf = async (callId: string) => {
    const rows = await execute<{ status: string }>(
      test.db,
      'select status from calls where id = $1',
      [callId],
    )
    return rows[0]?.status
  }

  it('is reported to the subscribers in order, once, with the findings of the live call', async () => {
    const call = await dialling()
    const end = endHeld(call, { status: 'completed' })
    const ended = await test.db.transaction((tx) => endCall(tx, end, 'learned'))
    assert.deepEqual(
      ended.map(({ callId }) => callId),
      [call.callId],
    )
    assert.deepEqual(heard, [
      ['first', call.callId, 'completed', 'learned'],
      ['second', call.callId, 'completed', 'learned'],
    ])
    const again = endHeld(call, { status: 'failed' })
    assert.deepEqual(await test.db.transaction((tx) => endCall(tx, again)), [])
    assert.equal(heard.length, 2, 'the first end stands, and nobody hears of another')
  })

  it('is rolled back if a subscriber fails', async () => {
    const callId = await queued()
    const failing = createEndCall([() => Promise.reject(new Error('no room'))])
    const cancel = cancelQueued(organization.organizationId, callId, 'Test.')
    await assert.rejects(
      test.db.transaction((tx) => failing(tx, cancel)),
      { message: 'no room' },
    )
    assert.equal(await statusOf(callId), 'queued')
  })

  it('is not the mark of a cancellation on a live call', async () => {
    const { organizationId, callId } = await dialling()
    const request = requestCancel(organizationId, callId, undefined)
    assert.deepEqual(await test.db.transaction((tx) => endCall(tx, request)), [])
    assert.deepEqual(heard, [])
    const [row] = await execute<{ is_marked: boolean }>(
      test.db,
      'select cancel_requested_at is not null as is_marked from calls where id = $1',
      [callId],
    )
    assert.deepEqual([await statusOf(callId), row?.is_marked], ['dialing', true])
  })

  it('does not affect a live call if only a queued one was meant', async () => {
    const { organizationId, callId } = await dialling()
    const cancel = cancelQueued(organizationId, callId, 'Test.')
    assert.deepEqual(await test.db.transaction((tx) => endCall(tx, cancel)), [])
    const [row] = await execute<{ is_marked: boolean }>(
      test.db,
      'select cancel_requested_at is not null as is_marked from calls where id = $1',
      [callId],
    )
    assert.equal(row?.is_marked, false)
  })
})
