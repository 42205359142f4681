import assert from 'node:assert/strict'
import { it } from 'node:test'
import { weekdays } from '../../../calling-hours/weekly-window.ts'
import { maxForecastMs, simulateDispatch, type SimulatedWork } from './simulate-dispatch.ts'
import { simulateInThread } from './simulate-in-thread.ts'

const fromMs = Date.parse('2026-11-23T15:00:00Z')
const zones = [['America/New_York'], ['Europe/Berlin'], undefined]

const workOf = (calls: number, changes: Partial<SimulatedWork> = {}): SimulatedWork => ({
  fromMs,
  policy: {
    timeZone: 'UTC',
    windows: [{ weekdays, startTime: '08:00', endTime: '21:00' }],
    allowedCountries: 'all',
  },
  lanes: zones.map((timeZones) => ({ timeZones, source: 'batch', rank: 2 })),
  calls: Array.from({ length: calls }, (_, index) => ({
    lane: index % zones.length,
    number: `+1${index}`,
    notBeforeMs: fromMs,
  })),
  lines: 20,
  callsPerSecond: 10,
  burst: 1,
  lineMs: 60_000,
  live: [],
  dialled: new Map(),
  ...changes,
})

it('gives the same instants in its thread as here, for two forecasts at one time', async () => {
  const work = workOf(2_000)
  const [first, second] = await Promise.all([simulateInThread(work), simulateInThread(work)])
  assert.deepEqual(first, simulateDispatch(work))
  assert.deepEqual(second, first)
})

it('never has more calls at one time than lines, nor starts them faster than the pace', () => {
  const rings = simulateDispatch(workOf(3_000)).toSorted()
  for (const [index, atMs] of rings.entries()) {
    assert.ok(!Number.isNaN(atMs))
    const before = rings[index - 20]
    assert.ok(before === undefined || before + 60_000 <= atMs, 'more calls than lines')
    const last = rings[index - 1]
    assert.ok(last === undefined || atMs - last >= 99, 'faster than the pace')
  }
})

it('leaves out what no hour of 400 days reaches, and everything without a line', () => {
  const never = workOf(3)
  const closed = { ...never, policy: { ...never.policy, windows: [] } }
  assert.ok(simulateDispatch(closed).every(Number.isNaN))
  assert.ok(simulateDispatch(workOf(3, { lines: 0 })).every(Number.isNaN))
  const slow = simulateDispatch(workOf(3, { lines: 1, lineMs: maxForecastMs + 1 }))
  assert.equal(slow.filter(Number.isNaN).length, 2)
})

const timeOf = (text: string) => Date.parse(text)

it('rings no more callees a day than the numbers of its agent may be shown to', () => {
  const numbers = {
    timeZone: 'America/New_York',
    numbers: [
      { callsPerDay: 10, callsToday: 4, restsUntilMs: 0 },
      { callsPerDay: 5, callsToday: 0, restsUntilMs: timeOf('2026-11-25T12:00:00Z') },
      { callsPerDay: 1, callsToday: 0, restsUntilMs: Number.POSITIVE_INFINITY },
    ],
    pools: [[0, 1], [2], []],
  }
  const alone = workOf(40, { numbers, lines: 100 })
  const lane = { timeZones: ['America/New_York'], source: 'batch', rank: 2 }
  const calls = alone.calls.map((call) => ({ ...call, lane: 0 }))
  const ringsOf = (pool: number) =>
    simulateDispatch({ ...alone, calls, lanes: [{ ...lane, pool }] })
  const rings = ringsOf(0)
  const between = (from: string, to: string) =>
    rings.filter((atMs) => atMs >= timeOf(from) && atMs < timeOf(to)).length
  // Its days are those of New York, and its hours begin at 8 there.
  assert.equal(between('2026-11-23T00:00:00-05:00', '2026-11-24T00:00:00-05:00'), 6)
  assert.equal(between('2026-11-24T08:00:00-05:00', '2026-11-25T00:00:00-05:00'), 10)
  assert.equal(between('2026-11-25T08:00:00-05:00', '2026-11-26T00:00:00-05:00'), 15)
  assert.equal(between('2026-11-26T08:00:00-05:00', '2026-11-27T00:00:00-05:00'), 9)
  assert.deepEqual(rings, rings.toSorted())
  assert.ok(ringsOf(1).every(Number.isNaN))
  assert.ok(ringsOf(2).every(Number.isNaN))
})

it('keeps work that waits for no number at its pace beside work that does', () => {
  const numbers = {
    timeZone: 'UTC',
    numbers: [{ callsPerDay: 1, callsToday: 1, restsUntilMs: 0 }],
    pools: [[0]],
  }
  const work = workOf(30)
  const lanes = work.lanes.map((lane, index) => (index === 0 ? { ...lane, pool: 0 } : lane))
  const rings = simulateDispatch({ ...work, lanes, numbers })
  for (const [index, { lane }] of work.calls.entries())
    if (lane === 2) assert.ok((rings[index] ?? 0) < fromMs + 60_000)
    else if (lane === 0) assert.ok((rings[index] ?? 0) >= timeOf('2026-11-24T00:00:00Z'))
})

it('rings each of ten thousand calls to one number in its turn', () => {
  const work = workOf(10_000, { lines: 5, lineMs: 1_000 })
  const calls = work.calls.map((call) => ({ ...call, lane: 2, number: '+12025550100' }))
  const rings = simulateDispatch({ ...work, calls }).toSorted()
  for (const [index, atMs] of rings.entries()) {
    const last = rings[index - 1]
    assert.ok(last === undefined || atMs - last >= 1_000, `call ${index} overlaps the one before`)
  }
})
