import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  claimAndSettle,
  clearOrganizations,
  createCallingOrganization,
  execute,
  insertNode,
  queueCalls,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { insertTrunk } from '../../../tests/support/trunk-fixtures.ts'
import { pauseTrunk } from '../../domains/trunks/edit-trunks.ts'
import type { TrunkInput } from '../../domains/trunks/trunk-settings.ts'
import { testBox } from '../../../tests/support/trunk-fixtures.ts'
import { sql } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import type { ClaimedCall } from '../claim/claim-calls.ts'
import { chooseTrunk, type TrunkChoice } from './choose-trunk.ts'
import { closeCircuit, openCircuit, proveGateway } from './circuit-store.ts'
import { lowerPace } from './pace-store.ts'

let test: TestDatabase
let organization: CallingOrganization
let claimed: ClaimedCall[]

before(async () => {
  test = await createTestDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  await clearOrganizations(test.db)
  await execute(test.db, 'delete from trunks')
  organization = await createCallingOrganization(test.db, { concurrency: 50 })
  await queueCalls(test.db, organization, 12)
})

/** Ten claimed calls of the organization, whatever the trunks take. */
const claimAll = async (): Promise<void> => {
  await execute(
    test.db,
    `update routes set channels = null, down_since = null, burst = 100, tokens = 100 where name = 'env'`,
  )
  const nodeId = newId()
  await insertNode(test.db, nodeId)
  claimed = [
    ...(await claimAndSettle(test.db, { nodeId, route: 'env', limit: 10, except: [] })).calls,
  ]
  await execute(test.db, `update trunks set burst = 100, tokens = 100`)
}

const trunk = (name: string, more: Partial<TrunkInput> = {}): Promise<unknown> =>
  insertTrunk(test.db, name, { uris: [`sip:${name}.example`], ...more })

const choose = (
  index: number,
  more: { phoneNumber?: string; served?: string[]; tried?: string[] } = {},
): Promise<TrunkChoice> => {
  const call = claimed[index]
  assert.ok(call)
  return chooseTrunk(test.db, {
    ...call,
    phoneNumber: '+12025550100',
    served: ['a', 'b', 'c'],
    tried: [],
    ...more,
  })
}

const nameOf = (choice: TrunkChoice): string =>
  choice.kind === 'chosen' ? choice.trunk : choice.kind === 'none' ? choice.code : choice.kind

const channelsOfRoute = async (): Promise<number | null> => {
  const route = await test.db.row<{ channels: number | null }>(routeStatement, [])
  return route?.channels ?? null
}

const routeStatement = sql('test.channelsOfRoute', `select channels from routes where name = 'env'`)

describe('the choice of a trunk', () => {
  it('takes the lowest priority, and the next one when that is full, paused, down or tried', async () => {
    await trunk('a', { priority: 1, channels: 1 })
    await trunk('b', { priority: 2 })
    await trunk('c', { priority: 3 })
    await claimAll()
    assert.equal(nameOf(await choose(0)), 'a')
    assert.equal(nameOf(await choose(0)), 'a', 'its own channel is no obstacle to the call itself')
    assert.equal(nameOf(await choose(1)), 'b', 'a is full')
    assert.equal(nameOf(await choose(2, { tried: ['b'] })), 'c')
    await openCircuit(
      test.db,
      { trunk: 'b', uri: 'sip:b.example' },
      { cause: 'unreachable', reason: 'Gone.' },
    )
    assert.equal(nameOf(await choose(3)), 'c', 'b is down')
    await test.db.transaction((tx) => pauseTrunk(tx, testBox, 'c', true))
    const none = await choose(4)
    assert.equal(nameOf(none), 'trunk_full')
    await execute(test.db, `update trunks set channels = 5 where name = 'a'`)
    assert.equal(nameOf(await choose(4)), 'a')
    assert.equal(nameOf(await choose(5, { served: ['b'] })), 'elsewhere')
  })

  it('never gives more calls to a trunk than its channels, however many choose at a time', async () => {
    await trunk('a', { priority: 1, channels: 3 })
    await trunk('b', { priority: 2 })
    await claimAll()
    const names = await Promise.all(claimed.map(async (_, index) => nameOf(await choose(index))))
    assert.equal(names.filter((name) => name === 'a').length, 3)
    assert.equal(names.filter((name) => name === 'b').length, 7)
  })

  it('keeps to countries and organizations, and names what is missing', async () => {
    await trunk('a', { countries: ['DE'] })
    await claimAll()
    assert.equal(nameOf(await choose(0)), 'no_trunk')
    assert.equal(nameOf(await choose(0, { phoneNumber: '+4930901820' })), 'a')
    const other = await createCallingOrganization(test.db)
    await trunk('b', { priority: 1, organizations: [other.organizationId] })
    assert.equal(nameOf(await choose(1, { phoneNumber: '+4930901820' })), 'a')
    await openCircuit(
      test.db,
      { trunk: 'a', uri: 'sip:a.example' },
      { cause: 'credentials', reason: 'SIP 401 Unauthorized.' },
    )
    const down = await choose(2, { phoneNumber: '+4930901820' })
    assert.equal(nameOf(down), 'trunk_down')
    assert.ok(down.kind === 'none' && down.reason === 'SIP 401 Unauthorized.')
  })

  it('shares calls of one priority by weight, and paces each trunk by its own bucket', async () => {
    await trunk('a', { weight: 1000 })
    await trunk('b', { weight: 1, cps: 1 })
    await claimAll()
    const names = await Promise.all(claimed.map(async (_, index) => nameOf(await choose(index))))
    assert.ok(names.filter((name) => name === 'a').length >= 8, names.join())
    await execute(
      test.db,
      `update trunks set burst = 1, tokens = 0, refill_per_second = 2, refilled_at = clock_timestamp()`,
    )
    const paced = await choose(0, { served: ['b'] })
    assert.ok(paced.kind === 'chosen' && paced.waitMs > 100 && paced.waitMs <= 500)
    await choose(0, { served: ['b'] })
    assert.equal(
      nameOf(await choose(0, { served: ['b'] })),
      'trunk_full',
      'no more than a second ahead',
    )
  })

  it('lets a call wait for its place in the pace of a congested carrier', async () => {
    await trunk('a', { cps: 40 })
    await claimAll()
    for (let refusals = 0; refusals < 10; refusals += 1)
      await lowerPace(
        test.db,
        { trunk: 'a', uri: 'sip:a.example' },
        { reason: 'SIP 503 Service Unavailable.', ageMs: 0 },
      )
    const before = Date.now()
    const none = await choose(0)
    assert.equal(nameOf(none), 'congested')
    assert.ok(none.kind === 'none' && none.until !== undefined)
    const waitMs = none.until.getTime() - before
    assert.ok(waitMs >= 1_000 && waitMs <= 60_000, `${waitMs} ms`)
    assert.match(none.reason, /carrier is congested/)
    await trunk('b', { priority: 20 })
    assert.equal(nameOf(await choose(0)), 'b', 'another trunk takes it meanwhile')
  })

  it('tries a trunk with one call at a time, beside the calls that were live before', async () => {
    await trunk('a', { channels: 3 })
    await claimAll()
    const gateway = { trunk: 'a', uri: 'sip:a.example' }
    assert.equal(nameOf(await choose(0)), 'a')
    await execute(
      test.db,
      `update calls set status = 'in_progress', dialing_at = now(), connected_at = now() where trunk = 'a'`,
    )
    await openCircuit(test.db, gateway, { cause: 'credentials', reason: 'SIP 401 Unauthorized.' })
    assert.equal(nameOf(await choose(1)), 'trunk_down')
    await closeCircuit(test.db, gateway, 'trial')
    assert.equal(await channelsOfRoute(), 3, 'calls are claimed for it')
    await execute(test.db, `update trunks set recovered_at = null, tokens = 100`)
    assert.equal(nameOf(await choose(1)), 'a', 'the live call is no obstacle')
    const waiting = await choose(2)
    assert.ok(waiting.kind === 'none' && waiting.code === 'on_trial' && waiting.until !== undefined)
    await proveGateway(test.db, gateway)
    assert.equal(nameOf(await choose(2)), 'a')
    assert.equal(nameOf(await choose(3)), 'trunk_full', 'its channels count again, and always did')
  })

  it('does not count a call that was claimed again for the trunk of its last attempt', async () => {
    await trunk('a', { channels: 1 })
    await claimAll()
    assert.equal(nameOf(await choose(0)), 'a')
    await execute(
      test.db,
      `update calls set lease_token = null, claimed_at = null, not_before = now() where lease_token is not null`,
    )
    await claimAll()
    assert.equal(nameOf(await choose(1)), 'a')
  })

  it('loses a call that this node no longer holds', async () => {
    await trunk('a')
    await claimAll()
    await execute(
      test.db,
      'update calls set lease_token = gen_random_uuid() where lease_token is not null',
    )
    assert.equal(nameOf(await choose(0)), 'lost')
  })
})
