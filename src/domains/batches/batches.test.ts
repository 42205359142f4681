import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  answered,
  busy,
  createBatchFixture,
  failed,
  filled,
  isConsistent,
  type BatchFixture,
} from '../../../tests/support/batch-fixture.ts'
import { clearOrganizations, execute, openTrunk } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { ApiError } from '../../contract/api-error.ts'
import type { Batch } from '../../contract/batches.ts'
import type { BatchStatus } from '../../contract/states.ts'
import { requeueCongested } from '../calls/lifecycle/requeue-call.ts'
import { addDoNotCall } from '../organizations/do-not-call.ts'
import { batchTransitions } from './batch-states.ts'

let test: TestDatabase
let batches: BatchFixture

before(async () => {
  test = await createTestDatabase()
  await openTrunk(test.db)
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  batches = await createBatchFixture(test.db)
})

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString()

/** The scheduled time of a batch comes. */
const bringForward = (id: string) =>
  execute(
    test.db,
    `update batches set scheduled_start_at = now() - interval '1 second' where id = $1`,
    [id],
  )

/** A batch of two recipients in each state, by the operations that lead there. */
const reach: Readonly<Record<BatchStatus, () => Promise<Batch>>> = {
  draft: () => batches.create(2),
  scheduled: async () => {
    const { id } = await batches.create(2, { scheduled_start_at: inAnHour() })
    return batches.start(id)
  },
  queued: async () => batches.start((await batches.create(2)).id),
  in_progress: async () => {
    const { id } = await reach.queued()
    const [call] = await batches.claim(1)
    assert.ok(call)
    assert.equal((await batches.dial(call)).kind, 'dial')
    return batches.get(id)
  },
  paused: async () => batches.pause((await reach.in_progress()).id),
  completed: () => runToEnd([answered, failed]),
  failed: () => runToEnd([failed, failed]),
  cancelled: async () => batches.cancel((await reach.queued()).id),
}

const runToEnd = async (results: readonly (typeof answered)[]): Promise<Batch> => {
  const { id } = await reach.queued()
  for (const [index, call] of (await batches.claim(2)).entries()) {
    await batches.dial(call)
    await batches.end(call, results[index])
  }
  return batches.get(id)
}

const code = (expected: string) => (error: ApiError) => error.code === expected

describe('the states of a batch (D5)', () => {
  for (const status of Object.keys(batchTransitions) as BatchStatus[]) {
    it(`can be ${status}`, async () => {
      const batch = await reach[status]()
      assert.equal(batch.status, status)
      assert.ok(isConsistent(batch), JSON.stringify(batch))
    })

    const isStartable = status === 'draft' || status === 'paused'
    it(`start of a ${status} batch ${isStartable ? 'queues it' : 'is a conflict'}`, async () => {
      const batch = await reach[status]()
      if (!isStartable) {
        await assert.rejects(batches.start(batch.id), code('resource_state_conflict'))
        return assert.deepEqual(await batches.get(batch.id), batch)
      }
      const started = await batches.start(batch.id)
      assert.equal(started.status, 'queued')
      assert.equal(started.paused_at, undefined)
      assert.equal(started.pending_recipients, 0)
    })

    const isPausable = ['scheduled', 'queued', 'in_progress'].includes(status)
    it(`pause of a ${status} batch ${isPausable ? 'pauses it' : 'changes nothing'}`, async () => {
      const batch = await reach[status]()
      if (status === 'draft') {
        await assert.rejects(batches.pause(batch.id), code('resource_state_conflict'))
        return assert.deepEqual(await batches.get(batch.id), batch)
      }
      const paused = await batches.pause(batch.id)
      if (!isPausable) return assert.deepEqual(paused, batch)
      assert.equal(paused.status, 'paused')
      assert.ok(paused.paused_at)
      assert.deepEqual(filled(paused), filled(batch), 'a pause touches no recipient')
    })

    const isOver = batchTransitions[status].length === 0
    it(`cancel of a ${status} batch ${isOver ? 'changes nothing' : 'ends what waits'}`, async () => {
      const batch = await reach[status]()
      const cancelled = await batches.cancel(batch.id)
      if (isOver) return assert.deepEqual(cancelled, batch)
      assert.equal(cancelled.status, 'cancelled')
      assert.ok(cancelled.cancelled_at)
      assert.equal(cancelled.pending_recipients + cancelled.queued_recipients, 0)
      assert.equal(cancelled.in_progress_recipients, batch.in_progress_recipients)
      assert.ok(isConsistent(cancelled), JSON.stringify(cancelled))
    })
  }

  it('a new batch is a draft with every recipient pending, and no call of it is shown', async () => {
    const batch = await batches.create(3)
    assert.deepEqual(Object.keys(batch), [
      'id',
      'status',
      'name',
      'agent_id',
      ...['total', 'pending', 'queued', 'in_progress', 'completed', 'failed', 'cancelled'].map(
        (name) => `${name}_recipients`,
      ),
      ...['answered', 'no_answer', 'busy'].map((name) => `${name}_recipients`),
      'created_at',
      'updated_at',
    ])
    assert.equal(batch.total_recipients, 3)
    assert.deepEqual(filled(batch), { pending: 3 })
    assert.deepEqual(await batches.calls(batch.id), [])
    assert.deepEqual(await batches.claim(), [])
  })

  it('a scheduled batch waits for its time, and the program then queues it', async () => {
    const { id } = await reach.scheduled()
    assert.ok((await batches.feed()) !== undefined, 'the next instant is known')
    assert.deepEqual(filled(await batches.get(id)), { pending: 2 })
    assert.deepEqual(await batches.claim(), [])
    await bringForward(id)
    assert.equal(await batches.feed(), undefined)
    const queued = await batches.get(id)
    assert.equal(queued.status, 'queued')
    assert.deepEqual(filled(queued), { queued: 2 })
    assert.equal((await batches.claim()).length, 2)
  })

  it('a time in the past starts at once', async () => {
    const { id } = await batches.create(1, { scheduled_start_at: '2020-01-01T00:00:00+02:00' })
    const started = await batches.start(id)
    assert.equal(started.status, 'queued')
    assert.equal(started.scheduled_start_at, '2019-12-31T22:00:00.000Z')
  })

  it('a paused scheduled batch is scheduled again, or queued after its time', async () => {
    const { id } = await reach.scheduled()
    assert.deepEqual(filled(await batches.pause(id)), { pending: 2 })
    const again = await batches.start(id)
    assert.equal(again.status, 'scheduled')
    assert.equal(again.paused_at, undefined)
    await batches.pause(id)
    await bringForward(id)
    await batches.feed()
    assert.equal(
      (await batches.get(id)).status,
      'paused',
      'a paused batch does not start by itself',
    )
    assert.equal((await batches.start(id)).status, 'queued')
  })

  it('the first recipient handed to dispatch makes it in progress, and a resume keeps started_at', async () => {
    const { id } = await reach.queued()
    assert.equal((await batches.get(id)).started_at, undefined)
    const [first] = await batches.claim(1)
    assert.ok(first)
    assert.equal((await batches.get(id)).status, 'queued', 'a claim alone hands nobody over')
    await batches.dial(first)
    const { started_at: startedAt } = await batches.get(id)
    assert.ok(startedAt)
    await batches.pause(id)
    await batches.start(id)
    const [second] = await batches.claim(1)
    assert.ok(second)
    await batches.dial(second)
    const resumed = await batches.get(id)
    assert.equal(resumed.status, 'in_progress')
    assert.equal(resumed.started_at, startedAt)
    assert.deepEqual(filled(resumed), { in_progress: 2 })
  })

  it('no call is claimed from a paused batch; live calls end and settle it', async () => {
    const { id } = await reach.in_progress()
    const [live] = await live1(id)
    await batches.pause(id)
    assert.deepEqual(await batches.claim(), [])
    await batches.end(live, busy)
    assert.deepEqual(filled(await batches.get(id)), { queued: 1, completed: 1 })
    const [waiting] = (await batches.calls(id)).filter((call) => call.status === 'queued')
    await batches.cancelCall(waiting?.id ?? '')
    const over = await batches.get(id)
    assert.equal(over.status, 'completed', 'from paused, as its last recipient ended')
    assert.deepEqual(filled(over), { completed: 1, cancelled: 1 })
    assert.equal(over.busy_recipients, 1)
    assert.ok(over.completed_at)
  })

  it('live calls of a cancelled batch finish and keep settling its counters', async () => {
    const { id } = await reach.in_progress()
    const [live] = await live1(id)
    const cancelled = await batches.cancel(id)
    assert.deepEqual(filled(cancelled), { in_progress: 1, cancelled: 1 })
    await batches.end(live)
    const over = await batches.get(id)
    assert.equal(over.status, 'cancelled')
    assert.deepEqual(filled(over), { completed: 1, cancelled: 1 })
    assert.equal(over.answered_recipients, 1)
    assert.equal(over.completed_at, undefined)
  })

  it('a call that a congested carrier sends back to a cancelled batch is cancelled', async () => {
    const { id } = await reach.in_progress()
    const [live] = await live1(id)
    await batches.cancel(id)
    assert.ok(await requeueCongested(test.db, live, { attempt: 1, reason: 'SIP 503' }))
    assert.deepEqual(filled(await batches.get(id)), { queued: 1, cancelled: 1 })
    await batches.feed()
    assert.deepEqual(filled(await batches.get(id)), { cancelled: 2 })
    const calls = await batches.calls(id)
    assert.ok(calls.every((call) => call.status === 'cancelled' && call.dialing_at === undefined))
  })

  it('a blocked recipient is counted as failed when its turn comes and does not fail the batch', async () => {
    const { id } = await batches.create(2)
    await batches.start(id)
    await addDoNotCall(test.db, batches.organizationId, '+12025550000')
    for (const call of await batches.claim(2)) {
      if ((await batches.dial(call)).kind === 'dial') await batches.end(call)
    }
    const over = await batches.get(id)
    assert.equal(over.status, 'completed')
    assert.deepEqual(filled(over), { completed: 1, failed: 1 })
  })

  it('a batch whose recipients are all blocked fails without having dialled', async () => {
    const { id } = await batches.create(2)
    await batches.start(id)
    for (const number of ['+12025550000', '+12025550001']) {
      await addDoNotCall(test.db, batches.organizationId, number)
    }
    for (const call of await batches.claim(2)) {
      assert.equal((await batches.dial(call)).kind, 'ended')
    }
    const over = await batches.get(id)
    assert.equal(over.status, 'failed')
    assert.equal(over.started_at, undefined)
    assert.ok(over.completed_at)
  })

  it('voicemail is the remainder of the completed recipients', async () => {
    const { id } = await batches.create(4)
    await batches.start(id)
    const answers = ['answered', 'no_answer', 'busy', 'voicemail'] as const
    for (const [index, call] of (await batches.claim(4)).entries()) {
      await batches.dial(call)
      await batches.end(call, { status: 'completed', answerStatus: answers[index] })
    }
    const over = await batches.get(id)
    assert.equal(over.completed_recipients, 4)
    assert.deepEqual(
      [over.answered_recipients, over.no_answer_recipients, over.busy_recipients],
      [1, 1, 1],
    )
  })

  it('an answered call that broke counts as failed and not as answered', async () => {
    const { id } = await batches.create(1)
    await batches.start(id)
    const [call] = await batches.claim(1)
    assert.ok(call)
    await batches.dial(call)
    await batches.end(call, { status: 'failed', answerStatus: 'answered' })
    const over = await batches.get(id)
    assert.equal(over.status, 'failed')
    assert.equal(over.answered_recipients, 0)
  })
})

/** The one live call of a batch, with its fence. */
const live1 = async (id: string) => {
  const rows = await execute<{ id: string; lease_token: string }>(
    test.db,
    `select id, lease_token from calls where batch_id = $1 and lease_token is not null`,
    [id],
  )
  return rows.map((row) => ({
    organizationId: batches.organizationId,
    callId: row.id,
    leaseToken: row.lease_token,
  })) as [Parameters<BatchFixture['end']>[0]]
}
