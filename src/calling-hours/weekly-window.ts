import { weekdayNames } from '../contract/batches.ts'

export const weekdays = weekdayNames

export type Weekday = (typeof weekdays)[number]

/** Part of the named days, half-open: includes `start_time`, excludes `end_time`. Wall-clock time, `HH:MM`. */
export interface WeeklyWindow {
  readonly weekdays: readonly Weekday[]
  readonly startTime: string
  /** Later than `startTime`; `24:00` is the end of the day. */
  readonly endTime: string
}

/** A batch's own calling window, as its body contains it (D5). It is judged in its own time zone. */
export interface CallingWindowJson {
  readonly time_zone: string
  readonly weekdays: readonly string[]
  readonly start_time: string
  readonly end_time: string
}
