import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fc } from '../../tests/support/properties.ts'
import { holidayBetween, type Holiday } from './holidays.ts'
import { laneSchedules, nextOpening, type Schedule } from './openings.ts'
import { weekdays, type WeeklyWindow } from './weekly-window.ts'

const at = (text: string): number => Date.parse(text)
const allDay = [{ weekdays, startTime: '00:00', endTime: '24:00' }]
const office: readonly WeeklyWindow[] = [{ weekdays, startTime: '08:00', endTime: '21:00' }]

const schedule = (timeZone: string, holidays: readonly Holiday[], windows = office): Schedule => ({
  timeZone,
  windows,
  holidays,
})

const opening = (schedules: readonly Schedule[], from: string): string | undefined => {
  const found = nextOpening(schedules, at(from))
  return found && new Date(found.startMs).toISOString()
}

const christmas: Holiday = { date: '2020-12-25', name: 'Christmas Day', everyYear: true }

describe('a holiday', () => {
  it('closes the callee’s whole day, and neither the evening before nor the morning after', () => {
    const newYork = [schedule('America/New_York', [christmas], allDay)]
    assert.equal(opening(newYork, '2026-12-25T04:59:59Z'), '2026-12-25T04:59:59.000Z')
    assert.equal(opening(newYork, '2026-12-25T05:00:00Z'), '2026-12-26T05:00:00.000Z')
    assert.equal(opening(newYork, '2026-12-26T04:59:59Z'), '2026-12-26T05:00:00.000Z')
    assert.equal(
      nextOpening(newYork, at('2026-12-24T12:00:00Z'))?.endMs,
      at('2026-12-25T05:00:00Z'),
    )
  })

  it('lasts 23 and 25 hours when the clock changes', () => {
    const days = ['2026-03-08', '2026-11-01'].map((date) => ({ date }))
    const newYork = [schedule('America/New_York', days, allDay)]
    assert.equal(opening(newYork, '2026-03-08T05:00:00Z'), '2026-03-09T04:00:00.000Z')
    assert.equal(opening(newYork, '2026-11-01T04:00:00Z'), '2026-11-02T05:00:00.000Z')
  })

  it('crosses the end of a year in the zone, and 29 February comes in leap years only', () => {
    const newYear = [{ date: '2026-01-01', everyYear: true }]
    assert.equal(
      opening([schedule('Pacific/Auckland', newYear)], '2026-12-31T08:00:00Z'),
      '2027-01-01T19:00:00.000Z',
      'it is 1 January 2027 there until 11:00 UTC',
    )
    const leapDay = [schedule('UTC', [{ date: '2024-02-29', everyYear: true }])]
    assert.equal(opening(leapDay, '2027-02-28T22:00:00Z'), '2027-03-01T08:00:00.000Z')
    assert.equal(opening(leapDay, '2028-02-28T22:00:00Z'), '2028-03-01T08:00:00.000Z')
    assert.equal(opening(leapDay, '2028-02-29T12:00:00Z'), '2028-03-01T08:00:00.000Z')
  })

  it('once is a day of its year only', () => {
    const once = [schedule('UTC', [{ date: '2026-12-25' }])]
    assert.equal(opening(once, '2026-12-25T12:00:00Z'), '2026-12-26T08:00:00.000Z')
    assert.equal(opening(once, '2027-12-25T12:00:00Z'), '2027-12-25T12:00:00.000Z')
  })

  it('in one of several possible zones closes them all', () => {
    const policy = { timeZone: 'UTC', windows: allDay, holidays: [christmas] }
    const both = laneSchedules(policy, ['America/New_York', 'America/Los_Angeles'])
    assert.equal(opening(both, '2026-12-25T06:00:00Z'), '2026-12-26T08:00:00.000Z')
  })

  it('does not hide the opening after a closure that is longer than the horizon', () => {
    const days = Array.from({ length: 20 }, (_, day) => ({
      date: new Date(at('2026-12-20T00:00:00Z') + day * 86_400_000).toISOString().slice(0, 10),
    }))
    assert.equal(
      opening([schedule('UTC', days)], '2026-12-20T01:00:00Z'),
      '2027-01-09T08:00:00.000Z',
    )
    const mondays: WeeklyWindow[] = [{ weekdays: ['monday'], startTime: '08:00', endTime: '10:00' }]
    const weekly = schedule('UTC', [{ date: '2026-12-28' }], mondays)
    assert.equal(opening([weekly], '2026-12-22T00:00:00Z'), '2027-01-04T08:00:00.000Z')
  })

  it('on every day of the year ends the search', () => {
    const everyDay = Array.from({ length: 366 }, (_, day) => ({
      date: new Date(at('2024-01-01T00:00:00Z') + day * 86_400_000).toISOString().slice(0, 10),
      everyYear: true,
    }))
    assert.equal(opening([schedule('UTC', everyDay)], '2026-12-20T01:00:00Z'), undefined)
  })

  it('narrows the policy and never the window of a batch', () => {
    const policy = { timeZone: 'UTC', windows: allDay, holidays: [christmas] }
    const schedules = laneSchedules(policy, ['America/New_York'], {
      time_zone: 'Asia/Tokyo',
      weekdays: [...weekdays],
      start_time: '00:00',
      end_time: '24:00',
    })
    // In Tokyo it is Christmas already.
    assert.equal(opening(schedules, '2026-12-24T16:00:00Z'), '2026-12-24T16:00:00.000Z')
  })

  it('is named where it makes a call wait', () => {
    const from = at('2026-12-24T23:00:00Z')
    const until = at('2026-12-26T13:00:00Z')
    const told = (holidays: readonly Holiday[]) =>
      holidayBetween(holidays, ['America/New_York'], from, until)
    assert.equal(told([christmas]), '; 2026-12-25 is a holiday (Christmas Day)')
    assert.equal(told([{ date: '2026-12-25' }]), '; 2026-12-25 is a holiday')
    assert.equal(told([{ date: '2026-12-27' }]), '')
    assert.equal(told([]), '')
  })
})

describe('holidays in a simulation', () => {
  const zones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Auckland']
  const centres = [
    '2026-03-08',
    '2026-03-29',
    '2026-04-05',
    '2026-10-25',
    '2026-11-01',
    '2027-01-01',
  ]
  const dateIn = new Map(
    zones.map((timeZone) => [
      timeZone,
      // The wall calendar by Intl and none of our code: the oracle.
      new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }),
    ]),
  )
  const holiday = fc.record({
    centre: fc.constantFrom(...centres),
    offset: fc.integer({ min: -3, max: 3 }),
    everyYear: fc.boolean(),
  })
  const isHoliday = (holidays: readonly Holiday[], timeZone: string, ms: number): boolean => {
    const date = dateIn.get(timeZone)?.format(ms) ?? ''
    return holidays.some((each) =>
      each.everyYear ? each.date.slice(5) === date.slice(5) : each.date === date,
    )
  }

  it('agree with the wall calendar around clock changes and the end of a year', () => {
    fc.assert(
      fc.property(
        fc.array(holiday, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...zones),
        fc.constantFrom(...centres),
        fc.integer({ min: -4 * 24 * 60, max: 4 * 24 * 60 }),
        (chosen, timeZone, centre, minutes) => {
          const holidays = chosen.map(({ centre: day, offset, everyYear }) => ({
            date: new Date(at(`${day}T00:00:00Z`) + offset * 86_400_000).toISOString().slice(0, 10),
            ...(everyYear && { everyYear }),
          }))
          const fromMs = at(`${centre}T00:00:00Z`) + minutes * 60_000
          const found = nextOpening([schedule(timeZone, holidays, allDay)], fromMs)
          assert.ok(found)
          assert.equal(isHoliday(holidays, timeZone, fromMs), found.startMs > fromMs)
          assert.ok(!isHoliday(holidays, timeZone, found.startMs), 'open at its start')
          assert.ok(!isHoliday(holidays, timeZone, found.endMs - 1), 'open to its end')
          if (found.startMs > fromMs)
            assert.ok(isHoliday(holidays, timeZone, found.startMs - 1), 'closed before')
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
