/** Days and hours of a calling policy, as the grid paints them. Everything is kept to the minute. */

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const
export type Weekday = (typeof weekdays)[number]

export const hours = Array.from({ length: 24 }, (_, hour) => hour)

export interface Window {
  readonly weekdays: readonly Weekday[]
  readonly start_time: string
  readonly end_time: string
}

/** Minutes of one day, half-open, in order, with something between any two. */
export type Opening = readonly [start: number, end: number]
export type Week = Readonly<Record<Weekday, readonly Opening[]>>

/** Of an hour: open, closed, or open in a part that no cell shows exactly. */
export type CellState = 'open' | 'closed' | 'partly'

export const weekOf = (windows: readonly Window[]): Week => {
  const ofDay = (day: Weekday): readonly Opening[] =>
    merged(
      windows
        .filter((window) => window.weekdays.includes(day))
        .map((window) => [minutesOf(window.start_time), minutesOf(window.end_time)]),
    )
  return Object.fromEntries(weekdays.map((day) => [day, ofDay(day)])) as Record<Weekday, Opening[]>
}

/** The windows of a week: each opening once, with all days that have it. */
export const windowsOf = (week: Week): Window[] => {
  const days = new Map<string, Weekday[]>()
  for (const day of weekdays)
    for (const opening of week[day]) {
      const key = opening.map(timeOf).join('-')
      days.set(key, [...(days.get(key) ?? []), day])
    }
  return [...days].map(([key, named]) => {
    const [start = '', end = ''] = key.split('-')
    return { weekdays: named, start_time: start, end_time: end }
  })
}

export const cellState = (week: Week, day: Weekday, hour: number): CellState => {
  const [start, end] = [hour * 60, hour * 60 + 60]
  const open = week[day].reduce(
    (sum, [from, to]) => sum + Math.max(0, Math.min(to, end) - Math.max(from, start)),
    0,
  )
  if (open === 60) return 'open'
  return open === 0 ? 'closed' : 'partly'
}

/** The week with one hour opened or closed; every other minute stays as it is. */
export const paint = (week: Week, day: Weekday, hour: number, isOpen: boolean): Week => {
  const [start, end] = [hour * 60, hour * 60 + 60]
  const others = week[day].flatMap(([from, to]): Opening[] =>
    [[from, Math.min(to, start)] as const, [Math.max(from, end), to] as const].filter(
      ([left, right]) => left < right,
    ),
  )
  return { ...week, [day]: merged(isOpen ? [...others, [start, end]] : others) }
}

export const isSameWeek = (left: Week, right: Week): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

/** Parts of an hour that are open, for people: `09:30 to 10:00`. */
export const partsOf = (week: Week, day: Weekday, hour: number): string =>
  week[day]
    .map(([from, to]) => [Math.max(from, hour * 60), Math.min(to, hour * 60 + 60)] as const)
    .filter(([from, to]) => from < to)
    .map(([from, to]) => `${timeOf(from)} to ${timeOf(to)}`)
    .join(', ')

const merged = (openings: readonly Opening[]): readonly Opening[] => {
  const joined: [number, number][] = []
  for (const [start, end] of openings.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1)
    if (last && start <= last[1]) last[1] = Math.max(last[1], end)
    else joined.push([start, end])
  }
  return joined
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

export const timeOf = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
