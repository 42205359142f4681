import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { endCallAlone } from '../../../../tests/support/call-ends.ts'
import {
  batchLane,
  createCallingOrganization,
  execute,
  insertNode,
  queueCalls,
  type CallingOrganization,
} from '../../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts'
import { newId } from '../../../runtime/ids.ts'
import type { CallFence } from './call-fence.ts'
import { callTransitions, liveStates, openStates, type StoredCallStatus } from './call-states.ts'
import { cancelQueued, requestCancel } from './cancel-queued-call.ts'
import { cancelUndialled } from './cancel-undialled-calls.ts'
import type { Ending } from './end-call.ts'
import { endHeld } from './end-held-call.ts'
import { markConnected } from './mark-connected.ts'
import { markDialing } from './mark-dialing.ts'
import { queuePendingCalls } from './queue-pending-calls.ts'
import { releaseClaim } from './release-claim.ts'
import { requeueCongested, requeueTrunkDown, requeueUnsent } from './requeue-call.ts'

interface Row extends CallFence {
  readonly batchId: string
}

const states = Object.keys(callTransitions) as StoredCallStatus[]

describe('the table of a call’s states', () => {
  let test: TestDatabase
  let organization: CallingOrganization
  const nodeId = newId()
  before(async () => {
    test = await createTestDatabase()
    organization = await createCallingOrganization(test.db, { concurrency: 100 })
    await insertNode(test.db, nodeId)
  })
  after(() => test.drop())

  /** A call of a batch in this state, reached in any way. */
  const rowIn = async (status: StoredCallStatus): Promise<Row> => {
    const { organizationId } = organization
    const batchId = newId()
    const [call] = await queueCalls(test.db, organization, 1, batchLane(organizationId, batchId))
    const row = { organizationId, callId: call?.id ?? '', leaseToken: newId(), batchId }
    const isOpen = (openStates as readonly string[]).includes(status)
    const isLive = (liveStates as readonly string[]).includes(status)
    await execute(
      test.db,
      `update calls
          set status = $2, batch_id = $3, node_id = $4, lease_token = $5,
              dialing_at = case when $6 then now() end, ended_at = case when $7 then now() end
        where id = $1`,
      [
        row.callId,
        status,
        batchId,
        nodeId,
        isOpen && status !== 'pending' ? row.leaseToken : null,
        isLive,
        !isOpen,
      ],
    )
    return row
  }
  const statusOf = async ({ callId }: Row): Promise<StoredCallStatus | undefined> => {
    const text = 'select status from calls where id = $1'
    return (await execute<{ status: StoredCallStatus }>(test.db, text, [callId]))[0]?.status
  }

  const ends =
    (ending: (row: Row) => Ending) =>
    (row: Row): Promise<unknown> =>
      test.db.transaction((tx) => endCallAlone(tx, ending(row)))
  const congestion = { attempt: 1, reason: 'SIP 503' }
  /** Every statement that moves one call or one batch. */
  const moves: readonly ((row: Row) => Promise<unknown>)[] = [
    ({ organizationId, batchId }) =>
      test.db.transaction((tx) => queuePendingCalls(tx, organizationId, batchId)),
    (row) => releaseClaim(test.db, row, { reason: 'Later.' }),
    (row) => markDialing(test.db, row, 'Test.', 60_000),
    (row) => markConnected(test.db, row, new Date()),
    (row) => requeueCongested(test.db, row, congestion),
    (row) => requeueTrunkDown(test.db, row, congestion),
    (row) => requeueUnsent(test.db, row, 'Not sent.'),
    ends((row) => endHeld(row, { status: 'completed' })),
    ends((row) => endHeld(row, { status: 'failed' })),
    ends((row) => endHeld(row, { status: 'cancelled' })),
    ends(({ organizationId, callId }) => requestCancel(organizationId, callId, undefined)),
    ends(({ organizationId, callId }) => cancelQueued(organizationId, callId, 'Test.')),
    ends(({ organizationId, batchId }) => cancelUndialled(organizationId, batchId)),
  ]

  it('has the states that a row may have', async () => {
    const [check] = await execute<{ text: string }>(
      test.db,
      `select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'calls_status_check'`,
    )
    const named = [...(check?.text ?? '').matchAll(/'(\w+)'::text/g)].map(([, state]) => state)
    assert.deepEqual(new Set(named), new Set<string>(states))
  })

  it('matches exactly what the statements do', async () => {
    const seen = new Set<string>()
    for (const from of states) {
      for (const move of moves) {
        const row = await rowIn(from)
        await move(row)
        const to = await statusOf(row)
        if (to !== from) seen.add(`${from} → ${to}`)
      }
    }
    const told = states.flatMap((from) => callTransitions[from].map((to) => `${from} → ${to}`))
    assert.deepEqual(seen, new Set(told))
  })
})
