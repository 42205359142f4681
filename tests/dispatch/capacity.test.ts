import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  claimAndSettle,
  batchLane,
  clearOrganizations,
  createCallingOrganization,
  execute,
  openTrunk,
  queueCalls,
} from '../support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { finishCall } from '../support/call-ends.ts'
import { newId } from '../../src/runtime/ids.ts'
import type { ClaimedCall } from '../../src/dispatch/claim/claim-calls.ts'
import { findWork } from '../../src/dispatch/claim/find-work.ts'

const dispatchers = 8
const organizations = 3
const callsPerOrganization = 700
const concurrency = 25

let test: TestDatabase

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(() => clearOrganizations(test.db))

const fill = async (): Promise<void> => {
  for (let i = 0; i < organizations; i += 1) {
    const organization = await createCallingOrganization(test.db, { concurrency })
    await queueCalls(test.db, organization, callsPerOrganization / 2)
    await queueCalls(
      test.db,
      organization,
      callsPerOrganization / 2,
      batchLane(organization.organizationId, newId()),
    )
  }
}

/** Maximum of live calls in any organization, and in all. Each sample is one committed state. */
const look = async (): Promise<{ most: number; all: number }> => {
  const [row] = await execute<{ most: number; all: number }>(
    test.db,
    `select coalesce(max(n), 0) as most, coalesce(sum(n), 0)::int as all
       from (select count(*) as n from calls where lease_token is not null group by organization_id) x`,
  )
  assert.ok(row)
  return row
}

const race = <T>(work: (dispatcher: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: dispatchers }, (_, dispatcher) => work(dispatcher)))

describe('eight dispatchers at once', () => {
  it('claim exactly what the organizations allow', async () => {
    await fill()
    await openTrunk(test.db)
    const claimed = await race(async () => {
      const calls: ClaimedCall[] = []
      for (let i = 0; i < 10; i += 1) {
        calls.push(
          ...(
            await claimAndSettle(test.db, { nodeId: newId(), route: 'env', limit: 20, except: [] })
          ).calls,
        )
      }
      return calls
    })
    const ids = claimed.flat().map((call) => call.callId)
    assert.equal(new Set(ids).size, ids.length)
    assert.deepEqual(await look(), { most: concurrency, all: concurrency * organizations })
  })

  it('claim exactly what the trunk allows', async () => {
    await fill()
    await openTrunk(test.db, 31)
    await race(async () => {
      for (let i = 0; i < 5; i += 1) {
        await claimAndSettle(test.db, { nodeId: newId(), route: 'env', limit: 20, except: [] })
      }
    })
    assert.equal((await look()).all, 31)
  })

  it('claim and finish thousands of calls without ever exceeding a limit or leaving one behind', async () => {
    await fill()
    await openTrunk(test.db, 60)
    const seen = new Set<string>()
    let twice = 0
    await race(async () => {
      const nodeId = newId()
      for (let idle = 0; idle < 3;) {
        await findWork(test.db, ['env'])
        const { calls } = await claimAndSettle(test.db, {
          nodeId,
          route: 'env',
          limit: 20,
          except: [],
        })
        idle = calls.length === 0 ? idle + 1 : 0
        const { most, all } = await look()
        assert.ok(most <= concurrency && all <= 60, `${most} of one, ${all} in all`)
        for (const call of calls) {
          if (seen.has(call.callId)) twice += 1
          seen.add(call.callId)
          await test.db.transaction((tx) => finishCall(tx, call, { status: 'failed' }))
        }
      }
    })
    assert.equal(twice, 0)
    assert.equal(seen.size, organizations * callsPerOrganization)
  })
})
