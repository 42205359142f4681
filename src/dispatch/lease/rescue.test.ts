import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  claimAndSettle,
  clearOrganizations,
  createCallingOrganization,
  execute,
  insertNode,
  openTrunk,
  queueCalls,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { EndedCall } from '../../domains/calls/lifecycle/ended-call.ts'
import { createEndCall } from '../../domains/calls/lifecycle/end-call.ts'
import { markConnected } from '../../domains/calls/lifecycle/mark-connected.ts'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { newId } from '../../runtime/ids.ts'
import { silentLogger } from '../../runtime/logger.ts'
import type { ClaimedCall } from '../claim/claim-calls.ts'
import { passGate } from '../gate.ts'
import { leaseMs, takeLease } from './lease.ts'
import { createLiveCalls } from '../live-calls.ts'
import { endOverdueCalls, rescueDeadNodes, rescueForgottenCalls } from './rescue.ts'
import { contactBeforeRescueMs, createSweep } from '../sweep.ts'

let test: TestDatabase
let organization: CallingOrganization
let nodeId: string
let ended: EndedCall[] = []

before(async () => {
  test = await createTestDatabase()
  await openTrunk(test.db)
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  organization = await createCallingOrganization(test.db)
  nodeId = newId()
  await insertNode(test.db, nodeId)
  ended = []
})

const endCall = createEndCall([
  async (_, calls) => {
    ended.push(...calls)
  },
])

/** One call that is only leased, one dialling, one in conversation. */
const claimThree = async (): Promise<[ClaimedCall, ClaimedCall, ClaimedCall]> => {
  await queueCalls(test.db, organization, 3)
  const { calls } = await claimAndSettle(test.db, { nodeId, route: 'env', limit: 3, except: [] })
  const [leased, dialling, talking] = calls as [ClaimedCall, ClaimedCall, ClaimedCall]
  await passGate(test.db, dialling, endCall)
  await passGate(test.db, talking, endCall)
  await markConnected(test.db, talking, new Date())
  return [leased, dialling, talking]
}

const read = async ({ callId }: ClaimedCall): Promise<[string, string | null, boolean]> => {
  const [row] = await execute<{ status: string; answer_status: string | null; is_leased: boolean }>(
    test.db,
    'select status, answer_status, lease_token is not null as is_leased from calls where id = $1',
    [callId],
  )
  assert.ok(row)
  return [row.status, row.answer_status, row.is_leased]
}

const letLapse = (): Promise<object[]> =>
  execute(test.db, `update nodes set lease_until = now() - interval '1 second'`)

const age = (): Promise<object[]> =>
  execute(test.db, `update calls set claimed_at = now() - interval '1 minute'`)

const offer = { name: 'n', maxChannels: 1, routes: [], lacks: [] }

describe('the rescue of a dead node', () => {
  it('requeues what was not dialled, and ends what was, because the phone may have rung', async () => {
    const [leased, dialling, talking] = await claimThree()
    await letLapse()
    assert.deepEqual(await rescueDeadNodes(test.db, endCall), { requeued: 1, ended: 2 })
    assert.deepEqual(await read(leased), ['queued', null, false])
    assert.deepEqual(await read(dialling), ['failed', 'unknown', false])
    assert.deepEqual(await read(talking), ['failed', 'unknown', false])
    assert.deepEqual(
      ended.map((call) => call.callId).toSorted(),
      [dialling.callId, talking.callId].toSorted(),
    )
    const nodes = await execute(test.db, 'select from nodes')
    assert.equal(nodes.length, 0, 'the node is forgotten once it has no calls')
  })

  it('frees the channels, and the requeued call is claimed again with another token', async () => {
    const [leased] = await claimThree()
    await letLapse()
    await rescueDeadNodes(test.db, endCall)
    const other = newId()
    await insertNode(test.db, other)
    const [again] = (
      await claimAndSettle(test.db, { nodeId: other, route: 'env', limit: 3, except: [] })
    ).calls
    assert.equal(again?.callId, leased.callId)
    assert.notEqual(again?.leaseToken, leased.leaseToken)
    assert.equal((await passGate(test.db, leased, endCall)).kind, 'lost')
    assert.equal((await passGate(test.db, again, endCall)).kind, 'dial')
  })

  it('changes nothing of a live node', async () => {
    const [leased] = await claimThree()
    assert.deepEqual(await rescueDeadNodes(test.db, endCall), { requeued: 0, ended: 0 })
    assert.deepEqual(await read(leased), ['queued', null, true])
  })

  it('skips a locked call, and takes the others at once', async () => {
    await queueCalls(test.db, organization, 2)
    const { calls } = await claimAndSettle(test.db, { nodeId, route: 'env', limit: 2, except: [] })
    const [held, other] = calls as [ClaimedCall, ClaimedCall]
    await letLapse()
    // A process that is paused within a transaction holds its row for that long.
    await test.db.transaction(async (tx) => {
      await execute(tx, 'select from calls where id = $1 for update', [held.callId])
      assert.deepEqual(await rescueDeadNodes(test.db, endCall), { requeued: 1, ended: 0 })
      assert.deepEqual(await read(other), ['queued', null, false])
    })
    assert.deepEqual(await rescueDeadNodes(test.db, endCall), { requeued: 1, ended: 0 })
    assert.deepEqual(await read(held), ['queued', null, false])
  })

  it('is done once, even if two nodes do it at the same time', async () => {
    await claimThree()
    await letLapse()
    const [one, other] = await Promise.all([
      rescueDeadNodes(test.db, endCall),
      rescueDeadNodes(test.db, endCall),
    ])
    assert.equal(one.requeued + other.requeued, 1)
    assert.equal(one.ended + other.ended, 2)
    assert.equal(ended.length, 2)
  })

  it('ends the others when one cannot be ended, and that one at the next try', async () => {
    const [, dialling, talking] = await claimThree()
    await letLapse()
    const stumbling = createEndCall([
      async (_, calls) => {
        if (calls.some((call) => call.callId === dialling.callId)) throw new Error('no results')
      },
    ])
    await assert.rejects(rescueDeadNodes(test.db, stumbling), AggregateError)
    assert.deepEqual((await read(dialling))[0], 'dialing')
    assert.deepEqual((await read(talking))[0], 'failed')
    await rescueDeadNodes(test.db, endCall)
    assert.deepEqual((await read(dialling))[0], 'failed')
  })
})

describe('the lease', () => {
  it('is valid by the monotonic clock for a little less than by the database’s', async () => {
    const clock = createManualTime(new Date())
    const lease = await takeLease(test.db, offer, clock)
    assert.equal(lease.isHeld(), true)
    clock.advance(leaseMs - 1)
    assert.equal(lease.isHeld(), false)
    assert.equal(await lease.renew(), true)
    assert.equal(lease.isHeld(), true)
  })

  it('is never renewed again once the node was declared dead', async () => {
    const lease = await takeLease(test.db, offer, createManualTime(new Date()))
    await letLapse()
    await rescueDeadNodes(test.db, endCall)
    assert.equal(await lease.renew(), false)
    assert.equal(lease.isHeld(), false)
  })

  it('that is released lets others rescue at once', async () => {
    const lease = await takeLease(test.db, offer, createManualTime(new Date()))
    await lease.release()
    assert.equal(lease.isHeld(), false)
    await rescueDeadNodes(test.db, endCall)
    const left = await execute(test.db, 'select from nodes where id = $1', [lease.nodeId])
    assert.equal(left.length, 0)
  })
})

describe('the sweep', () => {
  it('settles calls that their own node does not know, but not those just claimed', async () => {
    const [leased, dialling, talking] = await claimThree()
    const nothing = { requeued: 0, ended: 0 }
    assert.deepEqual(await rescueForgottenCalls(test.db, nodeId, [], endCall), nothing)
    await age()
    const known = [talking.callId]
    assert.deepEqual(await rescueForgottenCalls(test.db, nodeId, known, endCall), {
      requeued: 1,
      ended: 1,
    })
    assert.deepEqual((await read(leased))[0], 'queued')
    assert.deepEqual((await read(dialling))[0], 'failed')
    assert.deepEqual((await read(talking))[0], 'in_progress')
  })

  it('ends calls that are past ring, cap and grace', async () => {
    const [leased, dialling, talking] = await claimThree()
    assert.deepEqual(await endOverdueCalls(test.db, endCall), [])
    const [row] = await execute<{ seconds: number }>(
      test.db,
      'select extract(epoch from deadline_at - dialing_at)::int as seconds from calls where id = $1',
      [dialling.callId],
    )
    assert.equal(row?.seconds, 60 + 600 + 60)
    await execute(test.db, 'update calls set deadline_at = now() where id = $1', [talking.callId])
    assert.deepEqual(await endOverdueCalls(test.db, endCall), [talking.callId])
    assert.deepEqual(await read(talking), ['failed', 'unknown', false])
    assert.deepEqual((await read(leased))[0], 'queued')
  })

  it('declares no node dead until the database has been reachable for a while, as after a failover', async () => {
    const [, dialling] = await claimThree()
    await letLapse()
    const clock = createManualTime(new Date())
    const sweep = createSweep({
      database: test.db,
      endCall,
      clock,
      logger: silentLogger,
      live: createLiveCalls(() => {}),
      lease: () => undefined,
    })
    await sweep()
    clock.advance(contactBeforeRescueMs * 4)
    await sweep()
    assert.deepEqual((await read(dialling))[0], 'dialing', 'a long gap starts the wait anew')
    for (let passedMs = 0; passedMs < contactBeforeRescueMs; passedMs += 1000) {
      clock.advance(1000)
      await sweep()
    }
    assert.deepEqual((await read(dialling))[0], 'failed')
  })
})
