import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Temporal } from 'temporal-polyfill'
import { fc } from '../../tests/support/properties.ts'
import { weekdays, type Weekday } from './weekly-window.ts'
import {
  calleeZones,
  dayOfCallee,
  horizonMs,
  laneSchedules,
  nextOpening,
  openIntervals,
  type Schedule,
} from './openings.ts'

const at = (text: string): number => Temporal.Instant.from(text).epochMilliseconds
const show = (ms: number): string => new Date(ms).toISOString()

const daily = (timeZone: string, startTime: string, endTime: string): Schedule => ({
  timeZone,
  windows: [{ weekdays, startTime, endTime }],
})

const opening = (schedules: readonly Schedule[], from: string): [string, string] | undefined => {
  const found = nextOpening(schedules, at(from))
  return found && [show(found.startMs), show(found.endMs)]
}

describe('the next opening', () => {
  it('is the current one while it lasts, from now on', () => {
    assert.deepEqual(
      opening([daily('America/New_York', '08:00', '21:00')], '2026-11-20T15:00:00Z'),
      ['2026-11-20T15:00:00.000Z', '2026-11-21T02:00:00.000Z'],
    )
  })

  it('is half-open: over at its end, open at its start', () => {
    const schedule = [daily('UTC', '08:00', '21:00')]
    assert.equal(opening(schedule, '2026-11-20T21:00:00Z')?.[0], '2026-11-21T08:00:00.000Z')
    assert.equal(opening(schedule, '2026-11-20T08:00:00Z')?.[0], '2026-11-20T08:00:00.000Z')
    assert.equal(opening(schedule, '2026-11-20T20:59:59.999Z')?.[1], '2026-11-20T21:00:00.000Z')
  })

  it('needs every zone open at once', () => {
    const both = ['America/New_York', 'America/Los_Angeles'].map((zone) =>
      daily(zone, '08:00', '21:00'),
    )
    assert.deepEqual(opening(both, '2026-11-20T12:00:00Z'), [
      '2026-11-20T16:00:00.000Z',
      '2026-11-21T02:00:00.000Z',
    ])
  })

  it('joins days that end at 24:00 and begin at 00:00', () => {
    const found = nextOpening([daily('UTC', '00:00', '24:00')], at('2026-11-20T12:00:00Z'))
    assert.equal(found?.endMs, at('2026-11-20T12:00:00Z') + horizonMs)
  })

  it('uses the weekdays of the zone, not of UTC', () => {
    const mondays: Schedule = {
      timeZone: 'Asia/Tokyo',
      windows: [{ weekdays: ['monday'], startTime: '08:00', endTime: '10:00' }],
    }
    // Monday 08:00 in Tokyo is Sunday 23:00 in UTC.
    assert.equal(opening([mondays], '2026-11-20T00:00:00Z')?.[0], '2026-11-22T23:00:00.000Z')
  })

  it('is absent for an unknown zone, or without windows', () => {
    assert.equal(
      opening([daily('Mars/Olympus', '08:00', '21:00')], '2026-11-20T00:00:00Z'),
      undefined,
    )
    assert.equal(opening([{ timeZone: 'UTC', windows: [] }], '2026-11-20T00:00:00Z'), undefined)
    assert.equal(opening([], '2026-11-20T00:00:00Z'), undefined)
  })

  it('omits the hour that a clock change skips', () => {
    const early = daily('America/New_York', '02:00', '03:00')
    const starts = openIntervals(early, at('2026-03-07T05:00:00Z')).map((found) =>
      show(found.startMs),
    )
    assert.equal(starts[0], '2026-03-07T07:00:00.000Z')
    assert.equal(starts[1], '2026-03-09T06:00:00.000Z', 'none on Sunday the 8th')
  })

  it('counts the hour that a clock change repeats twice', () => {
    const night = daily('America/New_York', '01:30', '03:00')
    const found = openIntervals(night, at('2026-11-01T04:00:00Z')).slice(0, 2)
    assert.deepEqual(
      found.map(({ startMs, endMs }) => [show(startMs), show(endMs)]),
      [
        ['2026-11-01T05:30:00.000Z', '2026-11-01T06:00:00.000Z'],
        ['2026-11-01T06:30:00.000Z', '2026-11-01T08:00:00.000Z'],
      ],
    )
  })
})

describe('the schedules of a lane', () => {
  const policy: Schedule = {
    timeZone: 'Europe/Berlin',
    windows: [{ weekdays, startTime: '08:00', endTime: '12:00' }],
  }

  it('judge callees without a place in the organization’s zone', () => {
    assert.deepEqual(calleeZones(policy, undefined), ['Europe/Berlin'])
  })

  it('judge callees whose zones are never open together in the organization’s zone', () => {
    assert.deepEqual(calleeZones(policy, ['America/New_York', 'Asia/Tokyo']), ['Europe/Berlin'])
    assert.deepEqual(calleeZones(policy, ['America/New_York', 'America/Chicago']), [
      'America/New_York',
      'America/Chicago',
    ])
  })

  it('narrow the policy by the batch’s window in the zone the window names', () => {
    const schedules = laneSchedules(policy, ['Europe/London'], {
      time_zone: 'UTC',
      weekdays: ['friday'],
      start_time: '11:00',
      end_time: '24:00',
    })
    assert.deepEqual(
      opening(schedules, '2026-07-13T00:00:00Z'),
      undefined,
      'London is at 12:00 then',
    )
    assert.deepEqual(opening(schedules, '2026-11-16T00:00:00Z'), [
      '2026-11-20T11:00:00.000Z',
      '2026-11-20T12:00:00.000Z',
    ])
  })
})

describe('the day of a callee', () => {
  it('has 23 or 25 hours when the clock changes', () => {
    const hours = (text: string): number => {
      const day = dayOfCallee(['America/New_York'], at(text))
      return (day.endMs - day.startMs) / 3_600_000
    }
    assert.equal(hours('2026-03-08T12:00:00Z'), 23)
    assert.equal(hours('2026-11-01T12:00:00Z'), 25)
    assert.equal(hours('2026-11-02T12:00:00Z'), 24)
  })

  it('spans every possible zone of the callee', () => {
    const day = dayOfCallee(['America/New_York', 'America/Chicago'], at('2026-11-20T12:00:00Z'))
    assert.deepEqual(
      [show(day.startMs), show(day.endMs)],
      ['2026-11-20T05:00:00.000Z', '2026-11-21T06:00:00.000Z'],
    )
  })
})

/** The time on the callee's wall clock, by Intl and none of our code: the oracle. */
const createWallClock = (
  timeZone: string,
): ((ms: number) => { weekday: Weekday; minute: number }) => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'long',
    hour: '2-digit',
    minute: '2-digit',
  })
  return (ms) => {
    const parts = Object.fromEntries(
      format.formatToParts(ms).map((part) => [part.type, part.value]),
    )
    return {
      weekday: String(parts['weekday']).toLowerCase() as Weekday,
      minute: Number(parts['hour']) * 60 + Number(parts['minute']),
    }
  }
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
const textOf = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

describe('openings in a simulation', () => {
  // New York and Berlin change by an hour, Lord Howe by half an hour; both changes of 2026 are in each range.
  const zones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe'] as const
  const clocks = new Map(zones.map((zone) => [zone, createWallClock(zone)]))
  const changes = [
    '2026-03-08',
    '2026-11-01',
    '2026-03-29',
    '2026-10-25',
    '2026-04-05',
    '2026-10-04',
  ]

  const window = fc
    .tuple(
      fc.subarray([...weekdays], { minLength: 1 }),
      fc.integer({ min: 0, max: 95 }),
      fc.integer({ min: 1, max: 96 }),
    )
    .filter(([, start, end]) => start < end)
    .map(([days, start, end]) => ({
      weekdays: days,
      startTime: textOf(start * 15),
      endTime: textOf(end * 15),
    }))
  const schedule = fc.record({
    timeZone: fc.constantFrom(...zones),
    windows: fc.array(window, { minLength: 1, maxLength: 3 }),
  })
  const instant = fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -36 * 60, max: 60 * 60 }))
    .map(([day, minutes]) => at(`${day}T00:00:00Z`) + minutes * 60_000)

  const isOpen = (schedules: readonly Schedule[], ms: number): boolean =>
    schedules.every(({ timeZone, windows }) => {
      const now = clocks.get(timeZone as (typeof zones)[number])?.(ms)
      return windows.some(
        (open) =>
          now !== undefined &&
          open.weekdays.includes(now.weekday) &&
          now.minute >= minutesOf(open.startTime) &&
          now.minute < minutesOf(open.endTime),
      )
    })

  it('agree with wall clocks, around every clock change of three zones', () => {
    fc.assert(
      fc.property(
        fc.array(schedule, { minLength: 1, maxLength: 3 }),
        instant,
        (schedules, fromMs) => {
          const found = nextOpening(schedules, fromMs)
          assert.equal(isOpen(schedules, fromMs), found?.startMs === fromMs)
          if (!found) return
          const { startMs, endMs } = found
          assert.ok(isOpen(schedules, startMs) && isOpen(schedules, endMs - 1), 'open inside')
          const isCut = endMs === fromMs + horizonMs
          assert.ok(isCut || !isOpen(schedules, endMs), 'closed at its end')
          assert.ok(startMs === fromMs || !isOpen(schedules, startMs - 1), 'closed before')
          for (const part of [0.2, 0.5, 0.8]) {
            assert.ok(isOpen(schedules, startMs + Math.floor((endMs - startMs) * part)))
            if (startMs > fromMs) {
              assert.ok(!isOpen(schedules, fromMs + Math.floor((startMs - fromMs) * part)))
            }
          }
        },
      ),
      { numRuns: 3_000, seed: 20261120 },
    )
  })
})
