import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from './logger.ts'
import { createManualTime } from '../../tests/support/manual-time.ts'
import { bucketBounds } from './metric-list.ts'
import { LoggedTelemetry, type Figure } from './telemetry.ts'

const open = () => {
  const time = createManualTime()
  const lines: Figure[][] = []
  const debug = (fields: object): void => {
    lines.push((fields as { figures: Figure[] }).figures)
  }
  return { time, lines, telemetry: new LoggedTelemetry({ ...silentLogger, debug }, time) }
}

test('counts are logged in one line a minute, and no line without a count', () => {
  const { time, lines, telemetry } = open()
  time.advance(600_000)
  assert.equal(lines.length, 0)
  const labels = { reason: 'stranger' }
  telemetry.count('outdial_sip_dropped_messages_total', labels)
  telemetry.count('outdial_sip_dropped_messages_total', labels)
  telemetry.count('outdial_sip_dropped_messages_total', { reason: 'over_rate' })
  time.advance(60_000)
  const name = 'outdial_sip_dropped_messages_total'
  const told = [
    { name, labels, total: 2 },
    { name, labels: { reason: 'over_rate' }, total: 1 },
  ]
  assert.deepEqual(lines, [told])
  time.advance(600_000)
  assert.equal(lines.length, 1)
  telemetry.count('outdial_sip_dropped_messages_total', labels)
  void telemetry.stop()
  assert.equal(time.pending(), 0)
  assert.deepEqual(lines[1]?.[0], { name, labels, total: 3 })
})

test('a histogram counts each value in every bucket that is large enough', () => {
  const { telemetry } = open()
  for (const value of [0.001, 0.3, 60]) telemetry.observe('outdial_http_request_seconds', value)
  const [figure] = telemetry.figures()
  assert.ok(figure && 'buckets' in figure)
  assert.deepEqual([figure.count, figure.sum], [3, 60.301])
  const expected = bucketBounds.map((bound) => (bound >= 0.3 ? 2 : 1))
  assert.deepEqual(figure.buckets, expected)
})

test('unbounded labels fill no memory, and every count is in some figure', () => {
  const { telemetry } = open()
  for (let status = 0; status < 5_000; status += 1)
    telemetry.count('outdial_http_requests_total', { status })
  const figures = telemetry.figures()
  assert.equal(figures.length, 1_001)
  const totals = figures.map((figure) => ('total' in figure ? figure.total : 0))
  assert.equal(
    totals.reduce((sum, each) => sum + each, 0),
    5_000,
  )
})
