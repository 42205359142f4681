import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import {
  claimAndSettle,
  batchLane,
  clearOrganizations,
  createCallingOrganization,
  execute,
  immediateLane,
  openTrunk,
  queueCalls,
  untilBlocked,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { insertCall } from '../../domains/calls/lifecycle/insert-call.ts'
import { finishCall } from '../../../tests/support/call-ends.ts'
import { laneId, setSourcePaused } from '../../domains/calls/lane-store.ts'
import type { RouteName } from '../../domains/organizations/organization-mode.ts'
import { decideModes } from '../../domains/organizations/organization-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import type { CallClaim, ClaimedCall } from './claim-calls.ts'
import { findWork } from './find-work.ts'
import { computeDueLanes } from '../lane-edges.ts'

let test: TestDatabase
let db: Database

before(async () => {
  test = await createTestDatabase()
  db = test.db
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(db)
  await openTrunk(db)
})

const nodeId = newId()

const claim = (limit: number, except: readonly string[] = []): Promise<CallClaim> =>
  claimAndSettle(db, { nodeId, route: 'env', limit, except })

const finish = (call: ClaimedCall): Promise<unknown> =>
  db.transaction((tx) => finishCall(tx, call, { status: 'cancelled' }))

const countLive = async (): Promise<number> =>
  (
    await execute<{ n: number }>(
      db,
      'select count(*) as n from calls where lease_token is not null',
    )
  )[0]?.n ?? -1

const isReady = async (organizationId: OrganizationId): Promise<boolean | undefined> =>
  (
    await execute<{ ready: boolean }>(
      db,
      'select ready from dispatch_organizations where organization_id = $1',
      [organizationId],
    )
  )[0]?.ready

describe('claiming', () => {
  it('leases the oldest calls first and leaves their status queued', async () => {
    const organization = await createCallingOrganization(db)
    const first = await queueCalls(db, organization, 1)
    await queueCalls(db, organization, 1)
    const { calls } = await claim(1)
    assert.deepEqual(
      calls.map((call) => call.callId),
      first.map((row) => row.id),
    )
    const [row] = await execute<{ status: string; node_id: string }>(
      db,
      'select status, node_id from calls where lease_token is not null',
    )
    assert.deepEqual(row, { status: 'queued', node_id: nodeId })
  })

  it('never claims a call twice', async () => {
    const organization = await createCallingOrganization(db, { concurrency: 100 })
    await queueCalls(db, organization, 30)
    const claims = [await claim(20), await claim(20), await claim(20)]
    const ids = claims.flatMap(({ calls }) => calls.map((call) => call.callId))
    assert.equal(ids.length, 30)
    assert.equal(new Set(ids).size, 30)
  })

  it('stops at the organization’s concurrency and continues when a call ends', async () => {
    const organization = await createCallingOrganization(db, { concurrency: 3 })
    await queueCalls(db, organization, 10)
    const { calls } = await claim(10)
    assert.equal(calls.length, 3)
    assert.equal(await isReady(organization.organizationId), false)
    assert.equal((await claim(10)).calls.length, 0)
    await finish(calls[0] as ClaimedCall)
    assert.equal((await claim(10)).calls.length, 1)
  })

  it('continues when the organization gets more concurrency', async () => {
    const organization = await createCallingOrganization(db, { concurrency: 1 })
    await queueCalls(db, organization, 3)
    await claim(10)
    await execute(db, 'update organizations set concurrency = 2 where id = $1', [
      organization.organizationId,
    ])
    assert.equal((await claim(10)).calls.length, 1)
  })

  it('stops at the trunk’s channels over all organizations', async () => {
    await openTrunk(db, 3, 100)
    for (let i = 0; i < 3; i += 1) await queueCalls(db, await createCallingOrganization(db), 2)
    assert.equal((await claim(10)).calls.length, 3)
    assert.equal((await claim(10)).stopped, 'channels')
    assert.equal(await countLive(), 3)
  })

  it('stops at the trunk’s pace and reports when the next call may start', async () => {
    await openTrunk(db, 100, 2)
    await queueCalls(db, await createCallingOrganization(db), 5)
    assert.equal((await claim(10)).calls.length, 2)
    const claimed = await claim(10)
    assert.equal(claimed.stopped, 'pace')
    assert.ok((claimed.retryInMs ?? 0) > 0)
  })

  it('claims nothing from a paused source until it is resumed', async () => {
    const organization = await createCallingOrganization(db)
    const batch = newId()
    await queueCalls(db, organization, 2, batchLane(organization.organizationId, batch))
    await setSourcePaused(db, organization.organizationId, batch, true)
    assert.equal((await claim(5)).calls.length, 0)
    await setSourcePaused(db, organization.organizationId, batch, false)
    assert.equal((await claim(5)).calls.length, 2)
  })

  it('claims nothing before a lane’s opening is known, opens it, and wakes its organization', async () => {
    const organization = await createCallingOrganization(db)
    await queueCalls(db, organization, 1)
    await execute(
      db,
      `update lanes set opens_at = null, closes_at = null, recompute_at = '-infinity'`,
    )
    assert.equal((await claim(5)).calls.length, 0)
    assert.equal((await findWork(db, ['env'])).hasDueLanes, true)
    await computeDueLanes(db)
    assert.equal((await claim(5)).calls.length, 1)
  })

  it('wakes by itself when a call’s time or a lane’s opening has come', async () => {
    const organization = await createCallingOrganization(db)
    await queueCalls(db, organization, 1)
    await execute(db, `update calls set not_before = now() + interval '1 hour'`)
    assert.equal((await claim(5)).calls.length, 0)
    assert.equal((await findWork(db, ['env'])).readyRoutes.length > 0, false)
    const [row] = await execute<{ in_minutes: number }>(
      db,
      'select round(extract(epoch from wake_at - now()) / 60)::int as in_minutes from dispatch_organizations',
    )
    assert.equal(row?.in_minutes, 60)
    // The hour passes.
    await execute(db, `update calls set not_before = now()`)
    await execute(db, `update dispatch_organizations set wake_at = now()`)
    assert.equal((await findWork(db, ['env'])).readyRoutes.length > 0, true)
    assert.equal((await claim(5)).calls.length, 1)
  })

  it('closes an organization’s lanes in the same commit as an edit of its policy', async () => {
    const organization = await createCallingOrganization(db)
    await queueCalls(db, organization, 1)
    await execute(db, `update organizations set policy = policy || '{"time_zone": "Asia/Tokyo"}'`)
    assert.equal((await claim(5)).calls.length, 0)
    await computeDueLanes(db)
    assert.equal((await claim(5)).calls.length, 1)
  })

  it('finds the second organization when the first is held by another transaction', async () => {
    const first = await createCallingOrganization(db)
    const second = await createCallingOrganization(db)
    await queueCalls(db, first, 1)
    await queueCalls(db, second, 1)
    await db.transaction(async (tx) => {
      await execute(
        tx,
        'select from dispatch_organizations where organization_id = $1 for no key update',
        [first.organizationId],
      )
      const { calls } = await claim(5)
      assert.deepEqual(
        calls.map((call) => call.organizationId),
        [second.organizationId],
      )
    })
  })

  it('skips a call that is being cancelled at this moment', async () => {
    const organization = await createCallingOrganization(db)
    const rows = await queueCalls(db, organization, 2)
    await db.transaction(async (tx) => {
      await execute(tx, 'select from calls where id = $1 for update', [rows[0]?.id])
      assert.deepEqual(
        (await claim(5)).calls.map((call) => call.callId),
        [rows[1]?.id],
      )
    })
  })
})

describe('the wake-up protocol', () => {
  it('does not lose a call whose placing read “ready” and commits after the claim found nothing', async () => {
    const organization = await createCallingOrganization(db)
    await queueCalls(db, organization, 1)
    const lane = immediateLane(organization.organizationId)
    await db.transaction(async (tx) => {
      // Reads ready = true, and stays open across the whole claim: it loses the race on purpose.
      await insertLate(tx, organization, laneId(lane))
      assert.equal((await claim(5)).calls.length, 1)
      assert.equal(await isReady(organization.organizationId), true, 'not cleared meanwhile')
    })
    assert.equal((await claim(5)).calls.length, 1)
    await claim(5)
    assert.equal(await isReady(organization.organizationId), false)
  })

  it('does not lose a call that is placed while the claim clears “ready”', async () => {
    const organization = await createCallingOrganization(db)
    await queueCalls(db, organization, 1)
    const lane = laneId(immediateLane(organization.organizationId))
    let placing: Promise<unknown> | undefined
    await db.transaction(async (tx) => {
      await execute(
        tx,
        'select from dispatch_organizations where organization_id = $1 for update',
        [organization.organizationId],
      )
      placing = db.transaction((other) => insertLate(other, organization, lane))
      await untilBlocked(db)
      await execute(tx, 'update dispatch_organizations set ready = false, wake_at = $1', [
        'infinity',
      ])
    })
    await placing
    assert.equal(await isReady(organization.organizationId), true)
  })
})

describe('routes', () => {
  const claimBy = (route: RouteName, limit = 10): Promise<CallClaim> =>
    claimAndSettle(db, { nodeId, route, limit, except: [] })

  const organizationsOf = ({ calls }: CallClaim): string[] =>
    calls.map((call) => call.organizationId)

  it('keep sandbox and live organizations apart', async () => {
    const sandbox = await createCallingOrganization(db, { mode: 'sandbox' })
    const live = await createCallingOrganization(db, { mode: 'live' })
    await queueCalls(db, sandbox, 2)
    await queueCalls(db, live, 1)
    assert.deepEqual((await findWork(db, ['sandbox', 'env'])).readyRoutes, ['sandbox', 'env'])
    assert.deepEqual(organizationsOf(await claimBy('env')), [live.organizationId])
    const claimed = await claimBy('sandbox')
    assert.deepEqual(
      claimed.calls.map(({ organizationId, route }) => [organizationId, route]),
      Array.from({ length: 2 }, () => [sandbox.organizationId, 'sandbox']),
    )
  })

  it('have channels of their own', async () => {
    await execute(db, `update routes set channels = case name when 'env' then 1 end`)
    await queueCalls(db, await createCallingOrganization(db, { mode: 'sandbox' }), 3)
    await queueCalls(db, await createCallingOrganization(db), 3)
    assert.equal((await claimBy('sandbox')).calls.length, 3, 'null: as many as the nodes hold')
    assert.equal((await claimBy('env')).calls.length, 1)
    await execute(db, 'update dispatch_organizations set ready = true')
    assert.equal((await claimBy('env')).stopped, 'channels')
  })

  it('that no node serves cost a turn nothing, and lose no wake-up', async () => {
    const live = await createCallingOrganization(db)
    await queueCalls(db, live, 1)
    assert.deepEqual((await findWork(db, ['sandbox'])).readyRoutes, [])
    assert.equal(await isReady(live.organizationId), true)
    assert.equal((await claimBy('env')).calls.length, 1)
  })

  it('wait for the mode of an organization from before there were modes', async () => {
    await queueCalls(db, await createCallingOrganization(db), 1)
    await execute(db, 'update organizations set mode = null')
    await execute(db, 'update dispatch_organizations set route = null')
    assert.deepEqual((await findWork(db, ['sandbox', 'env'])).readyRoutes, [])
    await decideModes(db, 'sandbox')
    assert.deepEqual((await findWork(db, ['sandbox', 'env'])).readyRoutes, ['sandbox'])
  })
})

const insertLate = async (
  tx: Transaction,
  organization: CallingOrganization,
  lane: string,
): Promise<void> => {
  await insertCall(tx, organization.organizationId, {
    ...organization,
    id: newId(),
    origin: 'api',
    agentVersion: 1,
    laneId: lane,
  })
}
