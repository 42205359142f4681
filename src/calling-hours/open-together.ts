import { Temporal } from 'temporal-polyfill'
import { weekdays, type WeeklyWindow } from './weekly-window.ts'
import { BoundedMap } from '../runtime/bounded-map.ts'

const dayMinutes = 24 * 60
const weekMinutes = 7 * dayMinutes

/** Middle of a northern winter and summer, when every zone has its standard and its daylight offset. */
const probes = ['2026-01-14T12:00:00Z', '2026-07-15T12:00:00Z'].map((text) =>
  Temporal.Instant.from(text),
)

/** Cached results: pairs of zone list and windows. Both are few in an installation. */
const maxAnswers = 1000
const answers = new BoundedMap<string, boolean>({ maxSize: maxAnswers })

/** Whether some minute of the week, in winter or summer, is inside the windows in every one of the zones. */
export const canOpenTogether = (
  zones: readonly string[],
  windows: readonly WeeklyWindow[],
): boolean => {
  const key = JSON.stringify([zones, windows])
  const known = answers.get(key)
  if (known !== undefined) return known
  const local = openMinutes(windows)
  const answer = probes.some((probe) => hasCommonMinute(offsetsAt(zones, probe), local))
  answers.set(key, answer)
  return answer
}

const offsetsAt = (zones: readonly string[], probe: Temporal.Instant): number[] => [
  ...new Set(
    zones.map((zone) => Math.round(probe.toZonedDateTimeISO(zone).offsetNanoseconds / 60e9)),
  ),
]

const hasCommonMinute = (offsets: readonly number[], local: Uint8Array): boolean => {
  for (let utc = 0; utc < weekMinutes; utc += 1) {
    if (offsets.every((offset) => local[(utc + offset + weekMinutes) % weekMinutes] === 1))
      return true
  }
  return false
}

/** Minutes since Monday 00:00 wall-clock time that are inside a window. */
const openMinutes = (windows: readonly WeeklyWindow[]): Uint8Array => {
  const open = new Uint8Array(weekMinutes)
  for (const window of windows) {
    for (const weekday of window.weekdays) {
      const day = weekdays.indexOf(weekday) * dayMinutes
      open.fill(1, day + minutesOf(window.startTime), day + minutesOf(window.endTime))
    }
  }
  return open
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
