import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  answered,
  busy,
  createBatchFixture,
  failed,
  filled,
  isConsistent,
  endCall,
  type BatchFixture,
} from '../support/batch-fixture.ts'
import { clearOrganizations, execute, openTrunk, untilBlocked } from '../support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import type { Batch } from '../../src/contract/batches.ts'
import { enterBatch } from '../../src/domains/batches/enter-batch.ts'
import { pauseBatchById } from '../../src/domains/batches/pause-batch.ts'
import { markDialing } from '../../src/domains/calls/lifecycle/mark-dialing.ts'
import { endHeld } from '../../src/domains/calls/lifecycle/end-held-call.ts'

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

/** Started, with the first `claimed` of its calls leased. */
const startedBatch = async (size: number, claimed: number) => {
  const { id } = await batches.create(size)
  await batches.start(id)
  const calls = await batches.claim(claimed)
  assert.equal(calls.length, claimed)
  return { id, calls }
}

/** A promise and its resolve function. */
const gateOf = () => Promise.withResolvers<void>()

describe('races around a batch', () => {
  it('the last two calls end at once: only the second to commit settles the batch', async () => {
    const { id, calls } = await startedBatch(2, 2)
    for (const call of calls) await batches.dial(call)
    const [first, second] = calls
    assert.ok(first && second)
    const mayCommit = gateOf()
    const hasWritten = gateOf()
    const one = test.db.transaction(async (tx) => {
      const [ended] = await endCall(tx, endHeld(first, answered))
      assert.ok(ended)
      hasWritten.resolve()
      await mayCommit.promise
    })
    await hasWritten.promise
    const other = batches.end(second, failed)
    await untilBlocked(test.db)
    assert.equal((await batches.get(id)).status, 'in_progress')
    mayCommit.resolve()
    await one
    assert.ok(await other)
    const over = await batches.get(id)
    assert.equal(over.status, 'completed')
    assert.deepEqual(filled(over), { completed: 1, failed: 1 })
  })

  it('a pause that commits between the lane check and the dial keeps the phone silent', async () => {
    const { id, calls } = await startedBatch(2, 1)
    const [call] = calls
    assert.ok(call)
    const mayCommit = gateOf()
    const hasWritten = gateOf()
    const pausing = test.db.transaction(async (tx) => {
      await pauseBatchById(tx, batches.organizationId, id, 'api')
      hasWritten.resolve()
      await mayCommit.promise
    })
    await hasWritten.promise
    const dialling = batches.dial(call)
    await untilBlocked(test.db)
    mayCommit.resolve()
    await pausing
    assert.deepEqual(await dialling, { kind: 'wait', reason: 'Its batch is paused.' })
    const paused = await batches.get(id)
    assert.equal(paused.started_at, undefined)
    assert.deepEqual(filled(paused), { queued: 2 })
    await batches.start(id)
    assert.equal((await batches.claim()).length, 2, 'the released call is claimed again')
  })

  it('a pause waits for a dial that is past the lock, and then counts it', async () => {
    const { id, calls } = await startedBatch(2, 1)
    const [call] = calls
    assert.ok(call)
    const mayCommit = gateOf()
    const hasWritten = gateOf()
    const dialling = test.db.transaction(async (tx) => {
      assert.equal(await markDialing(tx, call, 'Test.', 60_000), 1)
      assert.ok(await enterBatch(tx, batches.organizationId, id))
      hasWritten.resolve()
      await mayCommit.promise
    })
    await hasWritten.promise
    const pausing = batches.pause(id)
    await untilBlocked(test.db)
    mayCommit.resolve()
    await dialling
    const paused = await pausing
    assert.equal(paused.status, 'paused')
    assert.ok(paused.started_at)
    assert.deepEqual(filled(paused), { queued: 1, in_progress: 1 })
  })

  it('a claimed call of a cancelled batch passes no gate', async () => {
    const { id, calls } = await startedBatch(3, 3)
    const cancelled = await batches.cancel(id)
    assert.deepEqual(filled(cancelled), { cancelled: 3 })
    for (const call of calls) assert.equal((await batches.dial(call)).kind, 'lost')
    assert.deepEqual(await batches.get(id), cancelled)
  })

  it('a cancellation and the end of the last call: the first to commit wins', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { id, calls } = await startedBatch(1, 1)
      const [call] = calls
      assert.ok(call)
      await batches.dial(call)
      const both = [() => batches.cancel(id), () => batches.end(call)]
      await Promise.all((round % 2 ? both : both.toReversed()).map((act) => act()))
      const over = await batches.get(id)
      assert.ok(['completed', 'cancelled'].includes(over.status))
      assert.deepEqual(filled(over), { completed: 1 })
    }
  })

  it('every read while 200 calls are dialled and end is consistent', async () => {
    const { id } = await batches.create(200)
    await batches.start(id)
    const results = [
      answered,
      busy,
      failed,
      { status: 'completed', answerStatus: 'voicemail' },
    ] as const
    let isOver = false
    const seen: Batch[] = []
    const observe = async (): Promise<void> => {
      while (!isOver) seen.push(await batches.get(id))
    }
    const carry = async (worker: number): Promise<void> => {
      for (let turn = 0; ; turn += 1) {
        const calls = await batches.claim(5)
        if (calls.length === 0) return
        for (const [index, call] of calls.entries()) {
          assert.equal((await batches.dial(call)).kind, 'dial')
          await batches.end(call, results[(worker + turn + index) % results.length])
        }
      }
    }
    const watching = [observe(), observe()]
    await Promise.all([0, 1, 2, 3].map(carry))
    isOver = true
    await Promise.all(watching)
    const over = await batches.get(id)
    assert.equal(over.status, 'completed')
    assert.equal(over.completed_recipients + over.failed_recipients, 200)
    assert.ok(seen.length > 20, `only ${seen.length} reads`)
    assert.deepEqual(
      seen.filter((batch) => !isConsistent(batch)),
      [],
    )
    const phases = new Set(seen.map((batch) => batch.status))
    assert.ok(phases.has('in_progress'), [...phases].join())
  })

  it('starting, pausing, cancelling, dialling and ending at once neither deadlock nor lose count', async () => {
    const ids: string[] = []
    for (let index = 0; index < 4; index += 1) {
      const { id } = await batches.create(20, { recipients: peopleOf(index) })
      await batches.start(id)
      ids.push(id)
    }
    const carry = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn += 1) {
        for (const call of await batches.claim(3)) {
          if ((await batches.dial(call)).kind === 'dial') await batches.end(call, busy)
        }
      }
    }
    const toggle = async (id: string): Promise<void> => {
      for (let turn = 0; turn < 15; turn += 1) {
        await batches.pause(id)
        await batches.start(id).catch(conflictOnly)
        const [waiting] = (await batches.calls(id)).filter((call) => call.status === 'queued')
        if (waiting) await batches.cancelCall(waiting.id)
      }
      await batches.cancel(id)
    }
    await Promise.all([carry(), carry(), carry(), ...ids.map(toggle)])
    for (const id of ids) {
      const over = await batches.get(id)
      assert.ok(['completed', 'failed', 'cancelled'].includes(over.status), over.status)
      assert.ok(isConsistent(over), JSON.stringify(over))
      const left = await execute(
        test.db,
        `select from calls where batch_id = $1 and (ended_at is null or lease_token is not null)`,
        [id],
      )
      assert.deepEqual(left, [])
    }
  })

  it('lanes of batches that are over or not started are never computed', async () => {
    const draft = await batches.create(1)
    const { id, calls } = await startedBatch(1, 1)
    const [call] = calls
    assert.ok(call)
    await batches.dial(call)
    await batches.end(call)
    await execute(test.db, `update lanes set recompute_at = '-infinity' where source_id = $1`, [id])
    await batches.claim()
    await execute(
      test.db,
      `update organizations set policy = policy || '{"time_zone": "Europe/Berlin"}' where id = $1`,
      [batches.organizationId],
    )
    await batches.claim()
    const lanes = await execute<{ is_asleep: boolean }>(
      test.db,
      `select recompute_at = 'infinity' as is_asleep from lanes where source_id in ($1, $2)`,
      [draft.id, id],
    )
    assert.deepEqual(lanes, [{ is_asleep: true }, { is_asleep: true }])
    await batches.start(draft.id)
    assert.equal((await batches.claim()).length, 1, 'a start wakes its lanes')
  })
})

/** Different people for each batch, so that creations do not wait for each other. */
const peopleOf = (group: number) =>
  Array.from({ length: 20 }, (_, index) => ({
    external_id: `${group}-${index}`,
    name: 'Person',
    phone_number: `+120255${String(50_500 + group * 100 + index)}`,
  }))

const conflictOnly = (error: { code?: string }): void => {
  assert.equal(error.code, 'resource_state_conflict')
}
