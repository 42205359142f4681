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
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import type { Database } from '../../database/database.ts'
import { ensureLane } from '../../domains/calls/lane-store.ts'
import { newId } from '../../runtime/ids.ts'
import type { CallClaim, ClaimedCall } from './claim-calls.ts'
import { maxLanesPerClaim } from './claim-statements.ts'

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

describe('claims are fair', () => {
  it('serves organizations equally, however much one has queued', async () => {
    const big = await createCallingOrganization(db, { concurrency: 1000 })
    const small = await createCallingOrganization(db, { concurrency: 1000 })
    await queueCalls(db, big, 200)
    await queueCalls(db, small, 10)
    const claimed: ClaimedCall[] = []
    for (let i = 0; i < 20; i += 1) claimed.push(...(await claim(1)).calls)
    assert.equal(claimed.filter((call) => call.organizationId === small.organizationId).length, 10)
  })

  it('gives an organization that was idle no credit for its absence', async () => {
    const busy = await createCallingOrganization(db, { concurrency: 1000 })
    await queueCalls(db, busy, 100)
    for (let i = 0; i < 50; i += 1) await claim(1)
    const idle = await createCallingOrganization(db, { concurrency: 1000 })
    await queueCalls(db, idle, 50)
    const claimed: ClaimedCall[] = []
    for (let i = 0; i < 20; i += 1) claimed.push(...(await claim(1)).calls)
    const share = claimed.filter((call) => call.organizationId === busy.organizationId).length
    assert.ok(share >= 9 && share <= 10, `the busy one got ${share} of 20`)
  })

  it('takes immediate calls before those of a batch', async () => {
    const organization = await createCallingOrganization(db)
    await queueCalls(db, organization, 5, batchLane(organization.organizationId, newId()))
    const [immediate] = await queueCalls(db, organization, 1)
    assert.equal((await claim(1)).calls[0]?.callId, immediate?.id)
  })

  it('serves the batches of one organization equally, however many lanes each has', async () => {
    const organization = await createCallingOrganization(db, { concurrency: 1000 })
    const [wide, narrow] = [newId(), newId()]
    for (const zone of ['Europe/Berlin', 'Asia/Tokyo', 'America/Chicago']) {
      await queueCalls(db, organization, 30, {
        ...batchLane(organization.organizationId, wide),
        timeZones: [zone],
      })
    }
    await queueCalls(db, organization, 30, batchLane(organization.organizationId, narrow))
    for (let i = 0; i < 10; i += 1) await claim(4)
    const served = await execute<{ source_id: string; n: number }>(
      db,
      `select l.source_id, count(*) as n from calls c
         join lanes l on l.organization_id = c.organization_id and l.id = c.lane_id
        where c.lease_token is not null group by 1`,
    )
    assert.deepEqual(
      served.map((row) => row.n),
      [20, 20],
    )
  })

  it('is not starved by a hundred empty lanes or a hundred paused ones', async () => {
    const organization = await createCallingOrganization(db, { concurrency: 1000 })
    for (let i = 0; i < 100; i += 1) {
      await ensureLane(db, batchLane(organization.organizationId, newId()))
      await queueCalls(db, organization, 1, {
        ...batchLane(organization.organizationId, newId()),
        isPaused: true,
      })
    }
    await queueCalls(db, organization, 1, batchLane(organization.organizationId, newId()))
    assert.equal((await claim(5)).calls.length, 1)
  })
})

describe('an organization with more lanes than one claim inspects', () => {
  const lanes = maxLanesPerClaim + 40

  /** One call in each of very many batches, all in one commit. */
  const queueInManyLanes = async (organization: CallingOrganization): Promise<void> => {
    await execute(
      db,
      `with lane as (
         insert into lanes (organization_id, id, kind, source_id, time_zones, rank, opens_at, closes_at, recompute_at)
         select $1, gen_random_uuid(), 'batch', gen_random_uuid(), '', 2, now(), 'infinity', 'infinity'
           from generate_series(1, $4::integer)
         returning id
       )
       insert into calls (organization_id, id, origin, contact_id, agent_id, agent_version, phone_number, lane_id)
       select $1, gen_random_uuid(), 'api', $2, $3, 1, '+1202' || (2000000 + row_number() over ()), id from lane`,
      [organization.organizationId, organization.contactId, organization.agentId, lanes],
    )
    await execute(db, 'select wake_organization($1)', [organization.organizationId])
  }

  const ready = async (): Promise<boolean | undefined> =>
    (await execute<{ ready: boolean }>(db, 'select ready from dispatch_organizations'))[0]?.ready

  it('gets every call claimed, and becomes idle when none is left', async () => {
    await queueInManyLanes(await createCallingOrganization(db, { concurrency: 1000 }))
    const seen = new Set<string>()
    for (let claims = 0; claims < lanes && seen.size < lanes; claims += 1)
      for (const call of (await claim(100)).calls) seen.add(call.callId)
    assert.equal(seen.size, lanes)
    for (let claims = 0; claims < 3; claims += 1)
      assert.deepEqual((await claim(100)).calls, [], 'nothing is left')
    assert.equal(await ready(), false)
  })

  it('finds the one open lane, wherever it is', async () => {
    await queueInManyLanes(await createCallingOrganization(db))
    for (const edge of ['min', 'max']) {
      await execute(
        db,
        `update lanes set paused = id <> (select lane_id from calls where status = 'queued' and lease_token is null
                                           order by lane_id ${edge === 'max' ? 'desc' : ''} limit 1)`,
      )
      const found = [
        ...(await claim(5)).calls,
        ...(await claim(5)).calls,
        ...(await claim(5)).calls,
      ]
      assert.equal(found.length, 1, `the ${edge} lane`)
      assert.equal(await ready(), true, 'other parts are still to be looked at')
    }
  })

  it('waits in any part when its concurrency fell below its live calls, and delays no other', async () => {
    const organization = await createCallingOrganization(db, { concurrency: 5 })
    await queueInManyLanes(organization)
    await queueCalls(db, organization, 1)
    assert.equal((await claim(3)).calls.length, 3, 'the next claim begins amid the lanes')
    await execute(db, 'update organizations set concurrency = 1')
    const other = await createCallingOrganization(db)
    await queueCalls(db, other, 1)
    const { calls } = await claim(5)
    assert.deepEqual(
      calls.map((call) => call.organizationId),
      [other.organizationId],
    )
  })

  it('has its immediate calls claimed first, in any part', async () => {
    const organization = await createCallingOrganization(db, { concurrency: 1000 })
    await queueInManyLanes(organization)
    const lane = immediateLane(organization.organizationId)
    for (let round = 0; round < 4; round += 1) {
      const [immediate] = await queueCalls(db, organization, 1, lane)
      const { calls } = await claim(1)
      assert.deepEqual(
        calls.map(({ callId }) => callId),
        [immediate?.id],
      )
      await claim(3)
    }
  })
})
