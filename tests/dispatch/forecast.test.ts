import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { BatchForecast } from '../../src/contract/console/forecasts.ts'
import { takeClaimTurn } from '../../src/dispatch/claim/claim-turn.ts'
import { feedBatches } from '../../src/dispatch/feed-batches.ts'
import { passGate } from '../../src/dispatch/gate.ts'
import { findBatch } from '../../src/domains/batches/batch-store.ts'
import { forecastBatch } from '../../src/domains/batches/forecast/forecast-batch.ts'
import { keepForecasts } from '../../src/domains/batches/forecast/keep-forecasts.ts'
import { addNumber, restNumber } from '../../src/domains/numbers/edit-numbers.ts'
import { addDoNotCall } from '../../src/domains/organizations/do-not-call.ts'
import type { CallingPolicy } from '../../src/domains/organizations/calling-policy.ts'
import { endHeld } from '../../src/domains/calls/lifecycle/end-held-call.ts'
import { weekdays } from '../../src/calling-hours/weekly-window.ts'
import { answered, createBatchFixture, endCall } from '../support/batch-fixture.ts'
import {
  batchLane,
  clearOrganizations,
  execute,
  immediateLane,
  openTrunk,
  queueCalls,
} from '../support/queue-fixtures.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { createVirtualDatabase, setClock } from './simulation/virtual-clock.ts'
import { newId } from '../../src/runtime/ids.ts'

/** The default without recent calls. */
const lineMs = 60_000
/** Tokens of the trunk are counted in fractions of a millisecond. */
const toleranceMs = 50
/** Edges of a history: no shape has more. */
const maxRounds = 3_000

let test: TestDatabase
let nowMs: number

const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs }

const moveTo = async (atMs: number): Promise<void> => {
  nowMs = atMs
  await setClock(test.db, atMs)
  await execute(test.db, `update nodes set lease_until = now() + interval '1 day'`)
}

before(async () => {
  test = await createVirtualDatabase()
})
after(() => test.drop())
beforeEach(async () => {
  await execute(test.db, 'truncate batch_forecasts')
  await clearOrganizations(test.db)
  await openTrunk(test.db)
})

const always: CallingPolicy = {
  timeZone: 'UTC',
  windows: [{ weekdays, startTime: '00:00', endTime: '24:00' }],
  allowedCountries: 'all',
}
const office: CallingPolicy = {
  ...always,
  windows: [{ weekdays, startTime: '09:00', endTime: '10:00' }],
}

const fixtureOf = (policy: CallingPolicy, concurrency: number) =>
  createBatchFixture(test.db, { concurrency, policy }, clock)

type Fixture = Awaited<ReturnType<typeof fixtureOf>>

/** Area codes of New York, Chicago, Los Angeles; and Berlin. */
const places = ['+1212555', '+1312555', '+1213555', '+4930555'] as const

const recipientsIn = (count: number, used: readonly string[] = places) =>
  Array.from({ length: count }, (_, index) => ({
    external_id: `person-${index}`,
    name: `Person ${index}`,
    phone_number: `${used[index % used.length]}${String(1000 + index)}`,
  }))

const forecastOf = async (fixture: Fixture, batchId: string): Promise<BatchForecast> => {
  const row = await findBatch(test.db, fixture.organizationId, batchId, undefined)
  assert.ok(row)
  return forecastBatch(test.db, fixture.organizationId, row)
}

/** The true dispatcher, on the virtual clock, with calls that all last equally long: when each call was dialled. */
const play = async (fixture: Fixture, batchId: string): Promise<Map<string, number>> => {
  const dialled = new Map<string, number>()
  const live: { endsMs: number; end: () => Promise<unknown> }[] = []
  for (let round = 0; round < maxRounds; round += 1) {
    await feedBatches(test.db, endCall)
    await keepForecasts(test.db)
    const claimed: Parameters<typeof passGate>[1][] = []
    const retryInMs = await takeClaimTurn({
      database: test.db,
      nodeId: fixture.nodeId,
      routes: ['env'],
      freeChannels: () => 1000,
      start: (call) => claimed.push(call),
    })
    for (const call of claimed) {
      const outcome = await passGate(test.db, call, endCall)
      if (outcome.kind !== 'dial') continue
      dialled.set(call.callId, nowMs)
      const end = () => test.db.transaction((tx) => endCall(tx, endHeld(call, answered)))
      live.push({ endsMs: nowMs + lineMs, end })
    }
    // A line that the gate gave back is used at once.
    if (claimed.length > 0) continue
    const batch = await fixture.get(batchId)
    if (batch.status === 'completed' || batch.status === 'failed') return dialled
    const paceMs =
      retryInMs === undefined || retryInMs === 0 ? Infinity : nowMs + Math.ceil(retryInMs)
    const edgeMs = await nextEdgeMs()
    const nextMs = Math.min(paceMs, edgeMs, ...live.map(({ endsMs }) => endsMs))
    assert.ok(Number.isFinite(nextMs), 'nothing is left to happen')
    if (retryInMs !== 0) await moveTo(Math.max(nextMs, nowMs + 1))
    for (const call of live.filter(({ endsMs }) => endsMs <= nowMs)) {
      live.splice(live.indexOf(call), 1)
      await call.end()
    }
  }
  return assert.fail('the batch did not end')
}

const nextEdgeMs = async (): Promise<number> => {
  const [row] = await execute<{ edge: Date | null }>(
    test.db,
    `select min(edge) as edge
       from (select opens_at as edge from lanes union all select recompute_at from lanes
             union all select not_before from calls where status = 'queued' and lease_token is null
             union all select scheduled_start_at from batches where status = 'scheduled') as edges
      where edge > now() and isfinite(edge)`,
  )
  return row?.edge?.getTime() ?? Infinity
}

/** Forecasts a draft, starts it, and holds every instant against the dispatcher. */
const compare = async (fixture: Fixture, batchId: string): Promise<BatchForecast> => {
  const forecast = await forecastOf(fixture, batchId)
  await fixture.start(batchId)
  const dialled = await play(fixture, batchId)
  const expected = new Map(forecast.recipients.map(({ call_id: id, rings_at: at }) => [id, at]))
  for (const [id, at] of expected) {
    if (at === undefined) {
      assert.ok(!dialled.has(id), `${id} should never have rung`)
      continue
    }
    const rang = dialled.get(id)
    assert.ok(rang !== undefined, `${id} did not ring`)
    assert.ok(
      Math.abs(rang - Date.parse(at)) <= toleranceMs,
      `${id} was expected at ${at} and rang at ${new Date(rang).toISOString()}`,
    )
  }
  assert.equal(forecast.fact.rung, 0)
  return forecast
}

describe('a forecast is what the dispatcher does', () => {
  it('with a few lines and everything open', async () => {
    await moveTo(Date.parse('2026-11-23T12:00:00Z'))
    const fixture = await fixtureOf(always, 4)
    const batch = await fixture.create(25, { recipients: recipientsIn(25) })
    const forecast = await compare(fixture, batch.id)
    assert.equal(forecast.will_ring, 25)
    assert.equal(forecast.last_ring_at, '2026-11-23T12:06:00.000Z')
    assert.equal(forecast.ends_at, '2026-11-23T12:07:00.000Z')
    assert.deepEqual(forecast.hours, [{ hour: '2026-11-23T12:00:00.000Z', rings: 25 }])
    assert.equal(forecast.basis.source, 'default')
  })

  it('over several zones, days, a holiday and the end of summer time', async () => {
    await moveTo(Date.parse('2026-10-30T12:30:00Z'))
    const holidays = [{ date: '2026-11-01' }, { date: '2020-10-31', everyYear: true }]
    const fixture = await fixtureOf({ ...office, holidays }, 1)
    const batch = await fixture.create(150, { recipients: recipientsIn(150) })
    const forecast = await compare(fixture, batch.id)
    assert.equal(forecast.will_ring, 150)
    for (const { hour } of forecast.hours) assert.doesNotMatch(hour, /^2026-1(0-31|1-01)/)
  })

  it('within the window of the batch and from its scheduled start', async () => {
    await moveTo(Date.parse('2026-11-23T12:00:00Z'))
    const fixture = await fixtureOf(always, 2)
    const batch = await fixture.create(30, {
      recipients: recipientsIn(30),
      scheduled_start_at: '2026-11-24T10:00:00Z',
      calling_window: {
        time_zone: 'Europe/Berlin',
        weekdays: ['tuesday', 'thursday'],
        start_time: '11:10',
        end_time: '11:20',
      },
    })
    const forecast = await compare(fixture, batch.id)
    assert.equal(forecast.first_ring_at, '2026-11-24T10:10:00.000Z')
    assert.match(forecast.last_ring_at ?? '', /^2026-11-26/)
  })

  it('beside immediate calls and another batch, in turns', async () => {
    await moveTo(Date.parse('2026-11-23T12:00:00Z'))
    const fixture = await fixtureOf(always, 3)
    const { organizationId } = fixture
    await queueCalls(test.db, fixture, 5, immediateLane(organizationId))
    await queueCalls(test.db, fixture, 20, batchLane(organizationId, newId()))
    const batch = await fixture.create(12, { recipients: recipientsIn(12) })
    const forecast = await compare(fixture, batch.id)
    assert.equal(forecast.other_calls, 25)
    assert.equal(forecast.first_ring_at, '2026-11-23T12:02:00.000Z')
  })

  it('at the pace of the trunk', async () => {
    await moveTo(Date.parse('2026-11-23T12:00:00Z'))
    await execute(
      test.db,
      'update routes set burst = 1, tokens = 1, refill_per_second = 0.5, calls_per_second = 1, refilled_at = now()',
    )
    const fixture = await fixtureOf(always, 100)
    const batch = await fixture.create(20, { recipients: recipientsIn(20) })
    const forecast = await compare(fixture, batch.id)
    assert.equal(forecast.last_ring_at, '2026-11-23T12:00:38.000Z')
  })

  it('with numbers that other work uses, and the limit of attempts per day', async () => {
    await moveTo(Date.parse('2026-11-23T12:00:00Z'))
    const fixture = await fixtureOf({ ...always, attemptsPerNumberPerDay: 1 }, 2)
    const people = recipientsIn(6)
    const used = people[3]?.phone_number
    await queueCalls(test.db, fixture, 1, immediateLane(fixture.organizationId), used)
    const batch = await fixture.create(6, { recipients: people })
    const forecast = await compare(fixture, batch.id)
    const late = forecast.recipients.filter(({ rings_at: at }) => !at?.startsWith('2026-11-23T12'))
    assert.equal(late.length, 1, 'the number that was dialled today waits for tomorrow in Berlin')
    assert.equal(late[0]?.rings_at, '2026-11-23T23:00:00.000Z')
  })

  it('leaves out who must never be called, with the reason', async () => {
    await moveTo(Date.parse('2026-11-23T12:00:00Z'))
    const fixture = await fixtureOf(always, 2)
    const people = recipientsIn(5)
    const batch = await fixture.create(5, { recipients: people })
    const blocked = people[1]?.phone_number ?? ''
    await test.db.transaction((tx) => addDoNotCall(tx, fixture.organizationId, blocked))
    const forecast = await compare(fixture, batch.id)
    assert.deepEqual(
      forecast.recipients.flatMap(({ never }) => never ?? []),
      ['do_not_call_list'],
    )
    assert.equal(forecast.will_ring, 4)
  })
})

it('spreads a batch over the days that the limits and rests of its numbers take', async () => {
  await moveTo(Date.parse('2026-11-23T12:00:00Z'))
  const fixture = await fixtureOf(always, 20)
  const { organizationId } = fixture
  const batch = await fixture.create(10, { recipients: recipientsIn(10) })
  const days = async (): Promise<Readonly<Record<string, number>>> => {
    const { recipients } = await forecastOf(fixture, batch.id)
    const rings = recipients.map(({ rings_at: at, never }) => at?.slice(0, 10) ?? never ?? '')
    return Object.fromEntries(
      [...new Set(rings)].map((day) => [day, rings.filter((each) => each === day).length]),
    )
  }
  const [boston, london] = ['+16175550100', '+442079460018']
  assert.deepEqual(await days(), { '2026-11-23': 10 })
  await test.db.transaction((tx) => addNumber(tx, organizationId, boston, { calls_per_day: 4 }))
  assert.deepEqual(await days(), { '2026-11-23': 4, '2026-11-24': 4, '2026-11-25': 2 })
  await execute(
    test.db,
    `insert into caller_number_days values ('${organizationId}', '${boston}', '2026-11-23', 3)`,
  )
  assert.deepEqual(await days(), {
    '2026-11-23': 1,
    '2026-11-24': 4,
    '2026-11-25': 4,
    '2026-11-26': 1,
  })
  await test.db.transaction((tx) => addNumber(tx, organizationId, london, {}))
  assert.deepEqual(await days(), { '2026-11-23': 10 })
  await execute(
    test.db,
    `update agent_versions set definition = definition || '{"caller_ids": ["${boston}"]}'
      where organization_id = '${organizationId}'`,
  )
  assert.deepEqual(await days(), {
    '2026-11-23': 1,
    '2026-11-24': 4,
    '2026-11-25': 4,
    '2026-11-26': 1,
  })
  await test.db.transaction((tx) => restNumber(tx, organizationId, boston, {}))
  assert.deepEqual(await days(), { calling_hours: 10 })
})

describe('while a batch runs', () => {
  it('what was expected at its start is kept beside what came', async () => {
    await moveTo(Date.parse('2026-11-23T12:00:00Z'))
    const fixture = await fixtureOf(always, 2)
    const batch = await fixture.create(10, { recipients: recipientsIn(10) })
    const before = await forecastOf(fixture, batch.id)
    await fixture.start(batch.id)
    await play(fixture, batch.id)
    const done = await forecastOf(fixture, batch.id)
    assert.equal(done.waiting, 0)
    assert.deepEqual(done.recipients, [])
    assert.equal(done.fact.rung, 10)
    assert.equal(done.at_start?.last_ring_at, before.last_ring_at)
    assert.equal(done.at_start?.last_ring_at, done.fact.last_ring_at)
    assert.deepEqual(done.at_start?.hours, done.fact.hours)
  })
})
