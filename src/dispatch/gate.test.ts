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
  untilBlocked,
  type CallingOrganization,
} from '../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import type { Database, Statement } from '../database/database.ts'
import type { EndedCall } from '../domains/calls/lifecycle/ended-call.ts'
import { finishCall, endCallAlone } from '../../tests/support/call-ends.ts'
import { markConnected } from '../domains/calls/lifecycle/mark-connected.ts'
import { requeueCongested, requeueUnsent } from '../domains/calls/lifecycle/requeue-call.ts'
import { addDoNotCall } from '../domains/organizations/do-not-call.ts'
import { policyToJson, sandboxPolicy } from '../domains/organizations/calling-policy.ts'
import { newId } from '../runtime/ids.ts'
import type { ClaimedCall } from './claim/claim-calls.ts'
import { wakeEnginelessCalls } from '../domains/calls/lifecycle/wake-engineless-calls.ts'
import { passGate, type GateOutcome } from './gate.ts'
import { computeDueLanes } from './lane-edges.ts'
import { createEndCall } from '../domains/calls/lifecycle/end-call.ts'

let test: TestDatabase
let organization: CallingOrganization
let ended: EndedCall[] = []

before(async () => {
  test = await createTestDatabase()
  await openTrunk(test.db)
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  organization = await createCallingOrganization(test.db)
  ended = []
})

const claimOne = async (of = organization): Promise<ClaimedCall> => {
  await queueCalls(test.db, of, 1, undefined, of.phoneNumber)
  const nodeId = newId()
  await insertNode(test.db, nodeId)
  const { calls } = await claimAndSettle(test.db, { nodeId, route: 'env', limit: 5, except: [] })
  assert.equal(calls[0]?.organizationId, of.organizationId)
  return calls[0]
}

/** The next call to its number may be claimed. */
const end = async (call: ClaimedCall): Promise<void> => {
  assert.ok(await test.db.transaction((tx) => finishCall(tx, call, { status: 'completed' })))
}

const claimAll = async () => {
  const nodeId = newId()
  await insertNode(test.db, nodeId)
  return claimAndSettle(test.db, { nodeId, route: 'env', limit: 5, except: [] })
}

const gate = (call: ClaimedCall): Promise<GateOutcome> =>
  passGate(
    test.db,
    call,
    createEndCall([
      async (_, calls) => {
        ended.push(...calls)
      },
    ]),
  )

interface Row {
  readonly status: string
  readonly answer_status: string | null
  readonly outcome_reason: string | null
  readonly wait_reason: string | null
  readonly dialing_at: Date | null
  readonly not_before: Date
  readonly lease_token: string | null
  readonly attempt: number
  readonly decisions: { decision: string; reason: string; until?: string }[]
}

const read = async ({ callId }: { callId: string }): Promise<Row> => {
  const [row] = await execute<Row>(test.db, 'select * from calls where id = $1', [callId])
  assert.ok(row)
  return row
}

const change = (text: string): Promise<object[]> =>
  execute(test.db, text.replace('$org', `'${organization.organizationId}'`))

describe('the gate', () => {
  it('commits dialing, with the reason, before the INVITE is sent', async () => {
    const call = await claimOne()
    const outcome = await gate(call)
    assert.equal(outcome.kind, 'dial')
    const row = await read(call)
    assert.deepEqual([row.status, row.attempt], ['dialing', 1])
    assert.ok(row.dialing_at)
    assert.equal(row.decisions.at(-1)?.decision, 'dial')
    assert.match(row.decisions.at(-1)?.reason ?? '', /Calling hours are open/)
  })

  it('reports when the hours close, if that is within the horizon', async () => {
    const closes = '2099-01-01T21:00:00.000Z'
    const dial = async (recompute: string): Promise<string> => {
      const call = await claimOne()
      await change(
        `update lanes set closes_at = '${closes}', recompute_at = '${recompute}' where organization_id = $org`,
      )
      await gate(call)
      const reason = (await read(call)).decisions.at(-1)?.reason ?? ''
      await end(call)
      return reason
    }
    assert.match(await dial(closes), /are open in UTC until 2099-01-01T21:00:00\.000Z;/)
    assert.match(await dial('2098-12-31T21:00:00Z'), /are open in UTC; the policy/)
  })

  it('lets a call through only once', async () => {
    const call = await claimOne()
    assert.equal((await gate(call)).kind, 'dial')
    assert.equal((await gate(call)).kind, 'lost')
  })

  const refusals: readonly [string, () => Promise<unknown>, RegExp][] = [
    [
      'the contact is gone',
      () => change('delete from contacts where organization_id = $org'),
      /contact no longer/,
    ],
    [
      'the agent was archived',
      () => change('update agents set archived_at = now() where organization_id = $org'),
      /no longer published/,
    ],
    [
      'the number came onto the do-not-call list',
      () => addDoNotCall(test.db, organization.organizationId, organization.phoneNumber),
      /do-not-call/,
    ],
  ]
  for (const [name, happen, reason] of refusals) {
    it(`fails a call when ${name} since it was accepted`, async () => {
      const call = await claimOne()
      await happen()
      assert.equal((await gate(call)).kind, 'ended')
      const row = await read(call)
      assert.deepEqual([row.status, row.answer_status, row.dialing_at], ['failed', 'unknown', null])
      assert.match(row.outcome_reason ?? '', reason)
      assert.match(row.decisions.at(-1)?.reason ?? '', reason)
      assert.deepEqual(
        ended.map((one) => one.callId),
        [call.callId],
      )
    })
  }

  it('requeues a call when its hours closed between claim and gate', async () => {
    const call = await claimOne()
    await change(`update lanes set closes_at = now() where organization_id = $org`)
    assert.equal((await gate(call)).kind, 'wait')
    const row = await read(call)
    assert.deepEqual([row.status, row.lease_token, row.dialing_at], ['queued', null, null])
    assert.match(row.decisions.at(-1)?.reason ?? '', /outside the calling hours/)
  })

  it('requeues a call when its batch was paused between claim and gate', async () => {
    const call = await claimOne()
    await change(`update lanes set paused = true where organization_id = $org`)
    assert.equal((await gate(call)).kind, 'wait')
    assert.match((await read(call)).decisions.at(-1)?.reason ?? '', /paused/)
  })

  it('carries out a cancellation that came during the requeue', async () => {
    const call = await claimOne()
    await change(`update calls set cancel_requested_at = now() where organization_id = $org`)
    assert.equal((await gate(call)).kind, 'ended')
    assert.equal((await read(call)).status, 'cancelled')
  })

  it('waits for the callee’s next day when the number was dialled often enough', async () => {
    const policy = { ...sandboxPolicy, attemptsPerNumberPerDay: 2 }
    organization = await createCallingOrganization(test.db, { policy })
    for (let i = 0; i < 2; i += 1) {
      const dialled = await claimOne()
      assert.equal((await gate(dialled)).kind, 'dial')
      await end(dialled)
    }
    const call = await claimOne()
    assert.equal((await gate(call)).kind, 'wait')
    const row = await read(call)
    assert.equal(row.wait_reason, 'attempts_per_day')
    assert.equal(row.not_before.toISOString().slice(11), '00:00:00.000Z', 'midnight in UTC')
    assert.ok(row.not_before > new Date())
  })

  it('holds a live call without an engine until the next start, and never a sandbox call', async () => {
    const hasLiveEngine = (): boolean => false
    const call = await claimOne()
    const outcome = await passGate(test.db, call, endCallAlone, { hasLiveEngine })
    assert.equal(outcome.kind, 'wait')
    assert.equal((await read(call)).wait_reason, 'no_engine')
    assert.deepEqual((await claimAll()).calls, [], 'it is not claimed again and again')
    assert.equal(await wakeEnginelessCalls(test.db), 1)
    const [again] = (await claimAll()).calls
    assert.ok(again)
    assert.equal((await gate(again)).kind, 'dial')
    await end(again)
    await change(`update organizations set mode = 'sandbox' where id = $org`)
    const sandboxCall = await claimOne()
    const dialled = await passGate(test.db, sandboxCall, endCallAlone, { hasLiveEngine })
    assert.equal(dialled.kind, 'dial')
  })

  it('judges such a call again as soon as the policy allows more attempts', async () => {
    const policy = { ...sandboxPolicy, attemptsPerNumberPerDay: 1 }
    organization = await createCallingOrganization(test.db, { policy })
    const first = await claimOne()
    await gate(first)
    await end(first)
    const call = await claimOne()
    await gate(call)
    const hours = { ...policyToJson(policy), allowed_countries: ['US'] }
    await change(`update organizations set policy = '${JSON.stringify(hours)}' where id = $org`)
    assert.equal((await read(call)).wait_reason, 'attempts_per_day', 'other edits leave it alone')
    const more = { ...hours, attempts_per_number_per_day: 2 }
    await change(`update organizations set policy = '${JSON.stringify(more)}' where id = $org`)
    const row = await read(call)
    assert.equal(row.wait_reason, null)
    assert.ok(row.not_before <= new Date())
    await computeDueLanes(test.db)
    const { calls } = await claimAndSettle(test.db, {
      nodeId: newId(),
      route: 'env',
      limit: 1,
      except: [],
    })
    assert.equal(calls[0]?.callId, call.callId)
  })

  it('does not count dials that a congested carrier refused', async () => {
    const policy = { ...sandboxPolicy, attemptsPerNumberPerDay: 1 }
    organization = await createCallingOrganization(test.db, { policy })
    const first = await claimOne()
    await gate(first)
    await requeueCongested(test.db, first, {
      attempt: 1,
      reason: 'SIP 503',
      retryAfterMs: 3_600_000,
    })
    assert.equal((await gate(await claimOne())).kind, 'dial')
  })
})

describe('the fence', () => {
  it('stops a holder whose lease has expired by the database’s clock, whatever its own clock shows', async () => {
    const call = await claimOne()
    await execute(test.db, `update nodes set lease_until = now() - interval '1 second'`)
    assert.equal((await gate(call)).kind, 'wait')
    const row = await read(call)
    assert.deepEqual([row.status, row.lease_token, row.dialing_at], ['queued', null, null])
  })

  it('stops a holder that was declared dead, even if its lease were valid again', async () => {
    const call = await claimOne()
    await execute(
      test.db,
      `update nodes set lease_until = now() + interval '1 day', rescued_at = now()`,
    )
    assert.equal((await gate(call)).kind, 'wait')
    assert.equal((await read(call)).dialing_at, null)
  })

  /** A database that runs a function right before `dialing` is written. */
  const changedBeforeDialing = (text: string): Database => ({
    ...test.db,
    transaction: (work) =>
      test.db.transaction((tx) =>
        work({
          ...tx,
          row: async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
            if (statement.name === 'mark-dialing.markDialing') await change(text)
            return tx.row<Row>(statement, values)
          },
        }),
      ),
  })

  const lateChanges = {
    'its lane is paused': 'update lanes set paused = true where organization_id = $org',
    'its contact is erased': `update calls set phone_number = '' where organization_id = $org`,
  }
  for (const [what, text] of Object.entries(lateChanges)) {
    it(`leaves no call leased without a holder when ${what} after the gate looked`, async () => {
      const call = await claimOne()
      const database = changedBeforeDialing(text)
      assert.equal((await passGate(database, call, endCallAlone)).kind, 'wait')
      const row = await read(call)
      assert.deepEqual([row.status, row.lease_token], ['queued', null])
    })
  }

  it('stops a holder whose call was leased to another since', async () => {
    const call = await claimOne()
    await change(`update calls set lease_token = gen_random_uuid() where organization_id = $org`)
    assert.equal((await gate(call)).kind, 'lost')
    assert.equal(await markConnected(test.db, call, new Date()), false)
    assert.equal(await requeueUnsent(test.db, call, 'x'), false)
    const finished = await test.db.transaction((tx) => finishCall(tx, call, { status: 'failed' }))
    assert.equal(finished, undefined)
  })

  it('lets a cancellation that commits first win over dialling', async () => {
    const call = await claimOne()
    let passing: Promise<GateOutcome> | undefined
    await test.db.transaction(async (tx) => {
      await execute(
        tx,
        `update calls set status = 'cancelled', ended_at = now(), lease_token = null where id = $1`,
        [call.callId],
      )
      passing = gate(call)
      await untilBlocked(test.db)
    })
    assert.equal((await passing)?.kind, 'lost')
    assert.equal((await read(call)).status, 'cancelled')
  })
})
