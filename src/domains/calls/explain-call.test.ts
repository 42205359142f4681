import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import {
  createCallingOrganization,
  execute,
  queueCalls,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import type { ExplanationReason } from '../../contract/explanations.ts'
import { sandboxPolicy, type CallingPolicy } from '../organizations/calling-policy.ts'
import { explainCall } from './explain-call.ts'
import { organizationOf } from '../organizations/organization-of.ts'

let test: TestDatabase
let organization: CallingOrganization
let callId: string
let otherCallId: string

before(async () => {
  test = await createTestDatabase()
  organization = await createCallingOrganization(test.db, { concurrency: 1 })
  const rows = await queueCalls(test.db, organization, 2)
  ;[otherCallId, callId] = rows.map((row) => row.id).toSorted() as [string, string]
  await execute(test.db, 'update routes set channels = 10, tokens = 5, burst = 5')
  await execute(
    test.db,
    `insert into nodes (id, name, lease_until, max_channels, routes, lacks)
     values (gen_random_uuid(), 'n', now() + interval '1 day', 10, '{env}', '{no_engine}')`,
  )
})
after(() => test.drop())

const waiting = async (): Promise<ExplanationReason | undefined> =>
  (await explainCall(test.db, organization.organizationId, callId))?.reasons[0]

/** Explains the call under a change that is rolled back afterwards. */
const under = async (...changes: string[]): Promise<ExplanationReason | undefined> => {
  let seen: ExplanationReason | undefined
  await assert.rejects(
    test.db.transaction(async (tx) => {
      for (const change of changes) await execute(tx, change)
      seen = (await explainCall(tx, organization.organizationId, callId))?.reasons[0]
      throw new Error('undone')
    }),
    /undone/,
  )
  return seen
}

it('names how often the carrier was congested, and until when the call is dialled again', async () => {
  const reason = await under(
    `update calls
        set not_before = '2099-01-01T08:00:00Z', wait_reason = 'carrier_congestion', congestions = 4,
            congested_since = '2098-12-31T08:00:00Z'`,
  )
  assert.deepEqual(reason, {
    code: 'carrier_congestion',
    message:
      'The carrier was congested 4 times; the call is dialled again later, until 2099-01-01T08:00:00.000Z at least.',
    until: '2099-01-01T08:00:00.000Z',
  })
})

it('names the lowered pace of a trunk whose carrier is congested', async () => {
  const congested = [
    `insert into trunks (name, calls_per_second, paced_per_second, congested_reason)
     values ('carrier', 40, 0.2, 'SIP 503 Service Unavailable.')`,
    `insert into trunk_gateways (trunk, uri, position) values ('carrier', 'sip:192.0.2.1', 1)`,
  ]
  const drained = `update routes set tokens = 0, refill_per_second = 0.001, refilled_at = now()`
  const reason = await under(...congested, drained)
  assert.deepEqual(reason, {
    code: 'carrier_congestion',
    message:
      'The carrier is congested, so that 0.2 of 40 calls per second are dialled. The pace rises once the carrier takes a call. It said: SIP 503 Service Unavailable.',
    details: { calls_per_second: 0.2, allowed_calls_per_second: 40 },
  })
  const foreign = `update trunks set organizations = array[gen_random_uuid()] where name = 'carrier'`
  assert.notEqual((await under(...congested, drained, foreign))?.code, 'carrier_congestion')
})

it('names the holiday that the wait goes past', async () => {
  const reason = await under(
    `update organizations
        set policy = policy || '{"holidays": [{"date": "2024-01-01", "name": "New Year", "every_year": true}]}'`,
    `update lanes set opens_at = '2099-01-02T08:00:00Z', closes_at = 'infinity', time_zones = 'Europe/Paris'`,
  )
  assert.equal(reason?.code, 'calling_hours')
  assert.match(
    reason?.message ?? '',
    /^It is outside the calling hours in Europe\/Paris; \d{4}-01-01 is a holiday \(New Year\)\.$/,
  )
  assert.equal(reason?.until, '2099-01-02T08:00:00.000Z')
})

describe('explaining a call', () => {
  const opening = `'2099-01-01T08:00:00Z'`
  const cases: readonly [string, string, Partial<ExplanationReason>][] = [
    ['no dispatcher runs', 'delete from nodes', { code: 'node_draining' }],
    ['its batch is paused', 'update lanes set paused = true', { code: 'batch_paused' }],
    [
      'its hours are closed',
      `update lanes set opens_at = ${opening}, closes_at = 'infinity'`,
      { code: 'calling_hours', until: '2099-01-01T08:00:00.000Z' },
    ],
    [
      'the window of its batch counts too',
      `update lanes set opens_at = ${opening}, closes_at = 'infinity',
                        calling_window = '{"time_zone": "Europe/Paris"}'`,
      {
        code: 'calling_hours',
        message:
          'It is outside the calling hours in the organization’s time zone, narrowed by its batch’s window in Europe/Paris.',
        until: '2099-01-01T08:00:00.000Z',
      },
    ],
    [
      'the zones of its number count',
      `update lanes set opens_at = ${opening}, closes_at = 'infinity', time_zones = 'America/Chicago,America/New_York'`,
      {
        code: 'calling_hours',
        message: 'It is outside the calling hours in America/Chicago, America/New_York.',
        until: '2099-01-01T08:00:00.000Z',
      },
    ],
    [
      'its hours never open',
      `update lanes set opens_at = 'infinity', closes_at = 'infinity'`,
      { code: 'calling_hours' },
    ],
    [
      'its hours are not computed yet',
      'update lanes set opens_at = null, closes_at = null',
      { code: 'calling_hours' },
    ],
    [
      'the carrier was congested',
      `update calls set not_before = ${opening}, wait_reason = 'carrier_congestion'`,
      { code: 'carrier_congestion', until: '2099-01-01T08:00:00.000Z' },
    ],
    [
      'the organization is full',
      `update calls set lease_token = gen_random_uuid() where id = (select id from calls order by id limit 1)`,
      {
        code: 'capacity',
        message: 'The organization has 1 call live and may have 1.',
      },
    ],
    [
      'there is no trunk',
      `update nodes set routes = '{sandbox}', lacks = '{no_trunk,no_caller_id}'`,
      { code: 'no_trunk' },
    ],
    [
      'there is no number to show',
      `update nodes set routes = '{sandbox}', lacks = '{no_caller_id}'`,
      {
        code: 'no_caller_id',
        message:
          'Its organization is live and has no number to show to the callee: give it one with number add, or set OUTDIAL_CALLER_ID and start Outdial again.',
      },
    ],
    [
      'its agent has no engine',
      `update calls set not_before = 'infinity', wait_reason = 'no_engine'`,
      { code: 'no_engine' },
    ],
    [
      'the node is full',
      'update nodes set max_channels = 0',
      { code: 'capacity', message: 'All 0 channels of the node are taken.' },
    ],
    ['the trunk is full', 'update routes set channels = 0', { code: 'capacity' }],
    [
      'the trunk is paced',
      'update routes set tokens = 0, refilled_at = now()',
      { code: 'capacity' },
    ],
  ]
  for (const [name, change, expected] of cases) {
    it(`reports that ${name}`, async () => {
      const seen = await under(change)
      assert.equal(seen?.code, expected.code)
      assert.equal(seen?.until, expected.until)
      if (expected.message) assert.equal(seen?.message, expected.message)
    })
  }

  const paused = {
    immediate: 'Immediate calls are paused.',
    automation: 'Its Automation is paused.',
    batch: 'Its batch is paused.',
  }
  for (const [kind, message] of Object.entries(paused)) {
    it(`names what is paused: ${kind}`, async () => {
      const seen = await under(`update lanes set paused = true, kind = '${kind}'`)
      assert.equal(seen?.message, message)
      assert.equal(seen?.code, kind === 'automation' ? 'automation_paused' : 'batch_paused')
    })
  }

  it('names the zone that applies when those of a number are never open together', async () => {
    const policy: CallingPolicy = {
      ...sandboxPolicy,
      windows: [{ weekdays: ['monday'], startTime: '09:00', endTime: '12:00' }],
    }
    const other = await createCallingOrganization(test.db, { policy })
    const [call] = await queueCalls(test.db, other, 1)
    await execute(
      test.db,
      `update lanes
          set opens_at = ${opening}, closes_at = 'infinity', time_zones = 'Asia/Kamchatka,Europe/Kaliningrad'
        where organization_id = $1`,
      [other.organizationId],
    )
    const seen = await explainCall(test.db, other.organizationId, call?.id ?? '')
    assert.equal(
      seen?.reasons[0]?.message,
      'It is outside the calling hours in the organization’s time zone.',
    )
  })

  it('counts the calls ahead', async () => {
    assert.deepEqual(await waiting(), {
      code: 'next',
      message: '1 call of its lane comes first.',
    })
  })

  it('has no explanation for another organization', async () => {
    const other = await createCallingOrganization(test.db)
    assert.equal(await explainCall(test.db, other.organizationId, callId), undefined)
  })

  it('finds the organization of a call by its id alone', async () => {
    assert.equal(await organizationOf(test.db, 'call', otherCallId), organization.organizationId)
    assert.equal(await organizationOf(test.db, 'call', organization.agentId), undefined)
  })
})
