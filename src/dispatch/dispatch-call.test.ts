import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  claimAndSettle,
  clearOrganizations,
  createCallingOrganization,
  execute,
  openTrunk,
  queueCalls,
} from '../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts'
import type { Database } from '../database/database.ts'
import { systemTime } from '../runtime/time.ts'
import { silentLogger } from '../runtime/logger.ts'
import type { ClaimedCall } from './claim/claim-calls.ts'
import { dispatchCall } from './dispatch-call.ts'
import { takeLease, type Lease } from './lease/lease.ts'
import { endCallAlone } from '../../tests/support/call-ends.ts'

let test: TestDatabase
let lease: Lease
let claimed: ClaimedCall
/** The events of the call, in order. */
let steps: string[]

before(async () => {
  test = await createTestDatabase()
  await openTrunk(test.db)
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  await queueCalls(test.db, await createCallingOrganization(test.db), 1)
  lease = await takeLease(
    test.db,
    { name: 'test', maxChannels: 1, routes: ['env'], lacks: [] },
    systemTime,
  )
  const claim = await claimAndSettle(test.db, {
    nodeId: lease.nodeId,
    route: 'env',
    limit: 1,
    except: [],
  })
  claimed = claim.calls[0] as ClaimedCall
  steps = []
})

const status = async (): Promise<string | undefined> =>
  (await execute<{ status: string }>(test.db, 'select status from calls'))[0]?.status

const dispatch = (database: Database, prepared?: () => Promise<unknown>): Promise<void> =>
  dispatchCall(
    {
      database,
      lease,
      logger: silentLogger,
      endCall: endCallAlone,
      prepareCall: ({ callId }) => {
        assert.equal(callId, claimed.callId)
        steps.push('prepared')
        const ready = prepared?.()
        return {
          run: async (call) => {
            await ready
            steps.push(`run while ${await status()}, attempt ${call.attempt}`)
          },
          release: async () => {
            await ready
            steps.push('released')
          },
        }
      },
    },
    claimed,
    new AbortController().signal,
  )

describe('a claimed call', () => {
  it('is prepared before its dial is committed, and run afterwards', async () => {
    const ready = Promise.withResolvers<string | undefined>()
    const slow: Database = {
      ...test.db,
      transaction: (work) =>
        test.db.transaction(async (tx) => {
          const result = await work(tx)
          await ready.promise
          return result
        }),
    }
    await dispatch(slow, async () => ready.resolve(await status()))
    assert.equal(await ready.promise, 'queued')
    assert.deepEqual(steps, ['prepared', 'run while dialing, attempt 1'])
  })

  it('is not prepared when the gate refuses it', async () => {
    await execute(test.db, 'update lanes set paused = true')
    await dispatch(test.db)
    assert.deepEqual(steps, [])
  })

  it('is released when the race is lost at the last moment, or the commit fails', async () => {
    const pausing: Database = {
      ...test.db,
      transaction: (work) =>
        test.db.transaction(async (tx) => {
          await execute(test.db, 'update nodes set rescued_at = now()')
          return work(tx)
        }),
    }
    await dispatch(pausing)
    assert.deepEqual(steps, ['prepared', 'released'])
    assert.equal(await status(), 'queued')

    const failing: Database = {
      ...test.db,
      transaction: async (work) => {
        await test.db.transaction(work)
        throw new Error('The connection was lost during commit.')
      },
    }
    const claim = await claimAndSettle(test.db, {
      nodeId: lease.nodeId,
      route: 'env',
      limit: 1,
      except: [],
    })
    claimed = claim.calls[0] as ClaimedCall
    steps = []
    await dispatch(failing)
    assert.deepEqual(steps, ['prepared', 'released'])
  })
})
