import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDuration, durationProblem, nextLocalTime } from './local-time.ts'

const at = (text: string): number => Date.parse(text)
const utc = (epochMs: number): string => new Date(epochMs).toISOString().replace('.000Z', 'Z')

const next = (time: string, now: string, zones: readonly string[], notBefore = now): string =>
  utc(nextLocalTime(time, { nowMs: at(now), notBeforeMs: at(notBefore) }, zones))

const newYork = ['America/New_York']

test('the error names what is wrong with a duration', () => {
  const good = [
    'PT30M',
    'PT4H',
    'P1D',
    'P1W',
    'P1DT12H',
    'PT0.5S',
    'PT0.001S',
    'P90D',
    'P1M',
    'P2M',
  ]
  for (const text of good) assert.equal(durationProblem(text), undefined, text)
  const malformed = ['', '1 day', 'P', 'PT', '30m', 'P1.5D', ' P1D', `P${'1'.repeat(400)}D`]
  for (const text of malformed) assert.match(durationProblem(text) ?? '', /ISO 8601/, text)
  assert.match(durationProblem('-P1D') ?? '', /negative/)
  for (const text of ['PT0S', 'P0D', 'PT0.000000001S'])
    assert.match(durationProblem(text) ?? '', /longer than nothing/, text)
  for (const text of ['P91D', 'P90DT0.001S', 'P13W', 'P3M', 'P1Y', 'PT9007199254740991S'])
    assert.match(durationProblem(text) ?? '', /at most 90 days/, text)
  assert.equal(durationProblem('PT0S', { mayBeZero: true }), undefined)
})

test('a day after ten o’clock is ten o’clock, also over a clock change', () => {
  assert.equal(utc(addDuration(at('2026-10-31T14:00:00Z'), 'P1D', newYork)), '2026-11-01T15:00:00Z')
  assert.equal(utc(addDuration(at('2026-03-07T15:00:00Z'), 'P1D', newYork)), '2026-03-08T14:00:00Z')
  assert.equal(
    utc(addDuration(at('2026-10-31T14:00:00Z'), 'PT24H', newYork)),
    '2026-11-01T14:00:00Z',
  )
})

test('a month is a calendar month, by the callee’s clocks', () => {
  assert.equal(utc(addDuration(at('2026-10-31T14:00:00Z'), 'P1M', newYork)), '2026-11-30T15:00:00Z')
})

test('with several possible zones, a duration is over when it is over in all of them', () => {
  const zones = ['America/New_York', 'America/Phoenix']
  assert.equal(utc(addDuration(at('2026-10-31T14:00:00Z'), 'P1D', zones)), '2026-11-01T15:00:00Z')
})

test('a local time is the next one, strictly later than now', () => {
  assert.equal(next('10:00', '2026-07-16T08:00:00Z', newYork), '2026-07-16T14:00:00Z')
  assert.equal(next('10:00', '2026-07-16T14:00:00Z', newYork), '2026-07-17T14:00:00Z')
  assert.equal(
    next('10:00', '2026-07-15T14:00:00Z', newYork, '2026-07-16T14:00:00Z'),
    '2026-07-16T14:00:00Z',
  )
})

test('a local time that a clock change skips does not come on that day', () => {
  assert.equal(next('02:30', '2026-03-08T06:00:00Z', newYork), '2026-03-09T06:30:00Z')
  assert.equal(next('03:00', '2026-03-08T06:00:00Z', newYork), '2026-03-08T07:00:00Z')
})

test('a local time that a clock change repeats comes twice', () => {
  assert.equal(next('01:30', '2026-11-01T04:00:00Z', newYork), '2026-11-01T05:30:00Z')
  assert.equal(next('01:30', '2026-11-01T05:30:00Z', newYork), '2026-11-01T06:30:00Z')
  assert.equal(next('01:30', '2026-11-01T06:30:00Z', newYork), '2026-11-02T06:30:00Z')
})

test('with several possible zones, a local time comes when it has come in the last of them', () => {
  const zones = ['America/Chicago', 'America/New_York']
  assert.equal(next('10:00', '2026-07-16T08:00:00Z', zones), '2026-07-16T15:00:00Z')
  assert.equal(next('10:00', '2026-07-16T14:30:00Z', zones), '2026-07-16T15:00:00Z')
  assert.equal(next('10:00', '2026-07-16T15:00:00Z', zones), '2026-07-17T15:00:00Z')
})
