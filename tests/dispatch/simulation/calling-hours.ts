import type { CallingWindowJson } from '../../../src/calling-hours/weekly-window.ts'
import type { Holiday } from '../../../src/calling-hours/holidays.ts'
import type { CallingPolicy } from '../../../src/domains/organizations/calling-policy.ts'
import type { WeeklyWindow } from '../../../src/calling-hours/weekly-window.ts'
import { weekdayNames } from '../../../src/contract/batches.ts'

/** Clock changes of three zones, the last by half an hour: hours that are skipped and hours that repeat. */
export const clockChanges = [
  '2026-03-08T07:00:00Z', // America/New_York, forward
  '2026-11-01T06:00:00Z', // and back
  '2026-03-29T01:00:00Z', // Europe/Berlin, forward
  '2026-10-25T01:00:00Z', // and back
  '2026-10-03T15:30:00Z', // Australia/Lord_Howe, forward
  '2026-04-04T15:00:00Z', // and back
] as const

export const homeZones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe'] as const

/** The callee's possible zones: unknown, one, or one of two. */
export const calleeZones: readonly (readonly string[] | undefined)[] = [
  undefined,
  ['America/New_York'],
  ['Europe/Berlin'],
  ['Australia/Lord_Howe'],
  ['America/Chicago', 'America/New_York'],
]

const everyDay = weekdayNames
const workdays = everyDay.slice(0, 5)

const allDay: readonly WeeklyWindow[] = [
  { weekdays: everyDay, startTime: '00:00', endTime: '24:00' },
]

export const policyHours: readonly (readonly WeeklyWindow[])[] = [
  allDay,
  allDay,
  [{ weekdays: workdays, startTime: '09:00', endTime: '17:00' }],
  // Inside the hours that clock changes skip and repeat.
  [{ weekdays: everyDay, startTime: '01:30', endTime: '02:45' }],
  [
    { weekdays: everyDay, startTime: '00:00', endTime: '00:30' },
    { weekdays: everyDay, startTime: '08:00', endTime: '24:00' },
  ],
]

/** On and beside the clock changes, once and every year. */
export const holidayLists: readonly (readonly Holiday[])[] = [
  [],
  [],
  clockChanges.map((instant) => ({ date: instant.slice(0, 10), name: 'Day of the clocks' })),
  [
    { date: '2020-03-08', everyYear: true },
    { date: '2020-11-02', everyYear: true },
    { date: '2026-03-30' },
    { date: '2026-10-04' },
  ],
]

export const batchHours: readonly (CallingWindowJson | undefined)[] = [
  undefined,
  undefined,
  { time_zone: 'Europe/Berlin', weekdays: everyDay, start_time: '02:15', end_time: '21:00' },
]

/**
 * Whether the phone may ring, judged only by wall clocks in each place: half-open windows, all possible zones of
 * the callee (the organization's if there is none), and the batch's window in its own zone.
 */
export const mayRing = (
  policy: CallingPolicy,
  timeZones: readonly string[] | undefined,
  batchWindow: CallingWindowJson | undefined,
  atMs: number,
): boolean =>
  (timeZones ?? [policy.timeZone]).every(
    (zone) =>
      policy.windows.some((window) => isInside(window, wallClock(zone, atMs))) &&
      !isHoliday(policy, dateOnWall(zone, atMs)),
  ) &&
  (batchWindow === undefined ||
    isInside(
      {
        weekdays: everyDay.filter((day) => batchWindow.weekdays.includes(day)),
        startTime: batchWindow.start_time,
        endTime: batchWindow.end_time,
      },
      wallClock(batchWindow.time_zone, atMs),
    ))

const isHoliday = ({ holidays = [] }: CallingPolicy, date: string): boolean =>
  holidays.some((each) =>
    each.everyYear ? each.date.slice(5) === date.slice(5) : each.date === date,
  )

/** `2026-12-25`, as Swedes write dates. */
const dateOnWall = (timeZone: string, atMs: number): string =>
  new Date(atMs).toLocaleDateString('sv-SE', { timeZone })

interface WallClock {
  readonly weekday: string
  /** `HH:MM`. */
  readonly time: string
}

const isInside = (window: WeeklyWindow, { weekday, time }: WallClock): boolean =>
  window.weekdays.some((day) => day === weekday) &&
  window.startTime <= time &&
  time < window.endTime

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'long',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  formats.set(timeZone, format)
  return format
}

const wallClock = (timeZone: string, atMs: number): WallClock => {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map((part) => [part.type, part.value]),
  )
  return {
    weekday: (parts.get('weekday') ?? '').toLowerCase(),
    time: `${parts.get('hour')}:${parts.get('minute')}`,
  }
}
