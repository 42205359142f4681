import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startedInTurn } from '../../tests/support/claim-turns.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import {
  batchLane,
  clearOrganizations,
  createCallingOrganization,
  execute,
  insertNode,
  openTrunk,
  queueCalls,
  type CallingOrganization,
} from '../../tests/support/queue-fixtures.ts'
import type { Database, Queryable } from '../database/database.ts'
import {
  cancelCallsOfBatch,
  endCallAlone,
  finishCall,
  cancelQueuedCall,
  requestCancel,
} from '../../tests/support/call-ends.ts'
import { requeueCongested, requeueUnsent } from '../domains/calls/lifecycle/requeue-call.ts'
import { lockDispatch, setSourcePaused } from '../domains/calls/lane-store.ts'
import { eraseContact } from '../domains/retention/erase-contact.ts'
import { newId } from '../runtime/ids.ts'
import type { ClaimedCall } from './claim/claim-calls.ts'
import { createNumberSweep } from './forgotten-numbers.ts'
import { releaseClaim } from '../domains/calls/lifecycle/release-claim.ts'
import { passGate } from './gate.ts'
import { endOverdueCalls, rescueDeadNodes, rescueForgottenCalls } from './lease/rescue.ts'

const number = '+12025550100'

let database: TestDatabase
let db: Database
let organization: CallingOrganization
let nodeId: string
const ended = endCallAlone

before(async () => {
  database = await createTestDatabase()
  db = database.db
})
after(() => database.drop())
beforeEach(async () => {
  await clearOrganizations(db)
  await openTrunk(db, 1000)
  nodeId = newId()
  await insertNode(db, nodeId)
  organization = await createCallingOrganization(db, { concurrency: 100 })
})

const turn = () => startedInTurn(db, nodeId)

const idsOf = (calls: readonly { callId: string }[]): string[] => calls.map((call) => call.callId)

const queue = async (count: number, lane?: Parameters<typeof queueCalls>[3]): Promise<string[]> =>
  (await queueCalls(db, organization, count, lane, number)).map((call) => call.id).toSorted()

const reasonOf = async (callId: string | undefined): Promise<string | null | undefined> =>
  (
    await execute<{ wait_reason: string | null }>(
      db,
      'select wait_reason from calls where id = $1',
      [callId],
    )
  )[0]?.wait_reason

/** One call holds the number, and several wait for it: in their own lane of a batch if one is given. */
const holdNumber = async (waiting: number, lane?: Parameters<typeof queueCalls>[3]) => {
  const [id] = await queue(1)
  const [holder] = await turn()
  assert.ok(holder && holder.callId === id)
  const waiters = await queue(waiting, lane)
  assert.deepEqual(await turn(), [])
  for (const waiter of waiters) assert.equal(await reasonOf(waiter), 'number_in_use')
  return { holder, waiters }
}

const dial = async (call: ClaimedCall): Promise<void> => {
  assert.equal((await passGate(db, call, ended)).kind, 'dial')
}

const finish = (call: ClaimedCall) =>
  db.transaction(async (tx) => assert.ok(await finishCall(tx, call, { status: 'completed' })))

const age = () => execute(db, `update calls set claimed_at = now() - interval '1 minute'`)

const lapse = () =>
  execute(db, `update nodes set lease_until = now() - interval '1 second' where id = $1`, [nodeId])

/** Every way in which a call releases its number, and whether that call returns and is next itself. */
const ways: Record<string, { dialled: boolean; release: (call: ClaimedCall) => Promise<unknown> }> =
  {
    ends: { dialled: true, release: finish },
    'was not sent': { dialled: true, release: (call) => requeueUnsent(db, call, 'not sent') },
    'met a congested carrier': {
      dialled: true,
      release: (call) => requeueCongested(db, call, { attempt: 1, reason: 'SIP 503' }),
    },
    'is put back at the gate': {
      dialled: false,
      release: (call) =>
        releaseClaim(db, call, {
          reason: 'tomorrow',
          until: new Date(Date.now() + 86_400_000),
          waitReason: 'attempts_per_day',
        }),
    },
    'is cancelled before it is dialled': {
      dialled: false,
      release: (call) =>
        db.transaction((tx) => requestCancel(tx, call.organizationId, call.callId, 'api')),
    },
    'is dialled by a node that dies': {
      dialled: true,
      release: async () => {
        await lapse()
        await rescueDeadNodes(db, ended)
      },
    },
    'is forgotten by its node': {
      dialled: true,
      release: async () => {
        await age()
        await rescueForgottenCalls(db, nodeId, [], ended)
      },
    },
    'is overdue': {
      dialled: true,
      release: async (call) => {
        await execute(db, 'update calls set deadline_at = now() where id = $1', [call.callId])
        await endOverdueCalls(db, ended)
      },
    },
  }

describe('a call to a number in use is released', () => {
  for (const [name, { dialled, release }] of Object.entries(ways)) {
    it(`when the other call ${name}`, async () => {
      const { holder, waiters } = await holdNumber(2)
      if (dialled) await dial(holder)
      await release(holder)
      const other = newId()
      await insertNode(db, other)
      assert.deepEqual(idsOf(await startedInTurn(db, other)), [waiters[0]])
      assert.equal(await reasonOf(waiters[1]), 'number_in_use')
    })
  }

  it('when its node dies before it was dialled: the two go one after the other', async () => {
    const { holder, waiters } = await holdNumber(1)
    await lapse()
    await rescueDeadNodes(db, ended)
    nodeId = newId()
    await insertNode(db, nodeId)
    const [again, ...others] = await turn()
    assert.ok(again)
    assert.deepEqual([again.callId, others], [holder.callId, []])
    await finishQueued(again)
    assert.deepEqual(idsOf(await turn()), waiters)
  })

  it('when the batch of the other call is cancelled', async () => {
    const batch = newId()
    await queue(1, batchLane(organization.organizationId, batch))
    await execute(db, 'update calls set batch_id = $1', [batch])
    assert.equal((await turn()).length, 1)
    const waiters = await queue(2)
    await turn()
    await db.transaction(async (tx) => {
      await lockDispatch(tx, organization.organizationId)
      await cancelCallsOfBatch(tx, organization.organizationId, batch)
    })
    assert.deepEqual(idsOf(await turn()), waiters.slice(0, 1))
  })

  it('when a person is erased, and so are the waiting calls to them', async () => {
    const person = await createContact('+12025550199')
    await queueCalls(db, { ...organization, contactId: person }, 1, undefined, number)
    assert.equal((await turn()).length, 1)
    await queueCalls(db, { ...organization, contactId: person }, 1, undefined, number)
    const others = await queue(1)
    assert.deepEqual(await turn(), [])
    await db.transaction((tx) => eraseContact(tx, organization.organizationId, person))
    const [one, other, ...more] = await turn()
    assert.ok(one && other)
    assert.equal(more.length, 0)
    const nameless = one.callId === others[0] ? other : one
    assert.ok(idsOf([one, other]).includes(others[0] ?? ''))
    assert.equal((await passGate(db, nameless, ended)).kind, 'ended')
  })

  it('in order, before a later one', async () => {
    const { holder, waiters } = await holdNumber(2)
    const later = await queue(1)
    await dial(holder)
    await finish(holder)
    for (const id of [...waiters, ...later]) {
      const [next, ...others] = await turn()
      assert.ok(next)
      assert.deepEqual([next.callId, others], [id, []])
      await dial(next)
      await finish(next)
    }
  })

  it('without reading the other waiting calls, however many they are', async () => {
    const { holder } = await holdNumber(1)
    await execute(
      db,
      `insert into calls (organization_id, id, origin, contact_id, agent_id, agent_version, phone_number, lane_id,
                          wait_reason, not_before)
       select organization_id, gen_random_uuid(), origin, contact_id, agent_id, agent_version, phone_number, lane_id,
              'number_in_use', 'infinity'
         from calls cross join generate_series(1, 3000) as n
        where wait_reason = 'number_in_use'`,
    )
    await dial(holder)
    const pages = async (tx: Queryable): Promise<number> =>
      (
        await execute<{ pages: number }>(
          tx,
          `select sum(pg_stat_get_xact_blocks_fetched(oid))::int as pages
             from pg_class
            where oid = 'calls'::regclass
               or oid in (select indexrelid from pg_index where indrelid = 'calls'::regclass)`,
        )
      )[0]?.pages ?? 0
    await db.transaction(async (tx) => {
      const before = await pages(tx)
      await finishCall(tx, holder, { status: 'completed' })
      const read = (await pages(tx)) - before
      assert.ok(read > 0 && read < 500, `${read} pages`)
    })
    assert.equal((await turn()).length, 1)
  })

  it('into closed hours, where it waits for them', async () => {
    const { holder, waiters } = await holdNumber(1)
    await execute(
      db,
      `update lanes set opens_at = now() + interval '1 hour', recompute_at = 'infinity'`,
    )
    await execute(db, `update lanes set closes_at = 'infinity'`)
    await execute(
      db,
      `update calls set status = 'dialing', holds_number = true where lease_token is not null`,
    )
    await finish(holder)
    assert.deepEqual(await turn(), [])
    await execute(db, `update lanes set opens_at = now()`)
    await execute(db, 'update dispatch_organizations set wake_at = now() where not ready')
    assert.deepEqual(idsOf(await turn()), waiters)
  })

  it('while the next of its lane is being cancelled', async () => {
    const { holder, waiters } = await holdNumber(3)
    await dial(holder)
    await keepAwake()
    await db.transaction(async (tx) => {
      await cancelQueuedCall(tx, organization.organizationId, waiters[0] ?? '', 'x')
      await finish(holder)
    })
    assert.deepEqual(idsOf(await turn()), [waiters[1]])
  })

  it('by the sweep, if a cancellation locked the only one and was rolled back', async () => {
    const { holder, waiters } = await holdNumber(1)
    await dial(holder)
    await keepAwake()
    const sweep = createNumberSweep(db)
    assert.equal(await sweep(), 0)
    const killed = db.transaction(async (tx) => {
      await cancelQueuedCall(tx, organization.organizationId, waiters[0] ?? '', 'x')
      await finish(holder)
      throw new Error('killed')
    })
    await assert.rejects(killed, /killed/)
    assert.deepEqual(await turn(), [])
    assert.equal(await sweep(), 1)
    assert.deepEqual(idsOf(await turn()), waiters)
    assert.equal(await sweep(), 0)
  })

  it('not by the sweep, while the lane of the next one is paused', async () => {
    const batch = newId()
    const { holder, waiters } = await holdNumber(2, batchLane(organization.organizationId, batch))
    await setSourcePaused(db, organization.organizationId, batch, true)
    await dial(holder)
    await finish(holder)
    assert.equal(await createNumberSweep(db)(), 0)
    assert.deepEqual(await turn(), [])
    await setSourcePaused(db, organization.organizationId, batch, false)
    assert.deepEqual(idsOf(await turn()), waiters.slice(0, 1))
  })
})

/**
 * No call needs to wake the organization, so that two transactions that release calls do not wait for each other.
 */
const keepAwake = () => execute(db, 'update dispatch_organizations set ready = true')

const createContact = async (phoneNumber: string): Promise<string> => {
  const id = newId()
  await execute(
    db,
    `insert into contacts (organization_id, id, source, name, phone_number)
     values ($1, $2, 'manual_dial', 'Test', $3)`,
    [organization.organizationId, id, phoneNumber],
  )
  return id
}

const finishQueued = async (call: ClaimedCall): Promise<void> => {
  await dial(call)
  await finish(call)
}
