import { commonOpenings, laneSchedules } from '../../calling-hours/openings.ts'
import type { CallingWindow } from '../../contract/batches.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { zonesOfNumber } from '../../numbering/zones-of-number.ts'
import type { CallingPolicy } from '../organizations/calling-policy.ts'

/** The hours in which some of the recipients may be called within the next week. */
interface ZonePreview {
  /** The possible zones of these recipients; empty for numbers without a place. */
  readonly time_zones: string[]
  readonly recipients: number
  /** The policy and the window together. */
  readonly openings: { readonly start: string; readonly end: string }[]
}

const weekMs = 7 * 24 * 3_600_000

/** Combinations of zones that are shown, those with most recipients first. */
const maxZones = 20

/** When the numbers may be called: the overlap of the policy, in the callees' zones, and a batch's window. */
export const previewWindow = (
  numbers: readonly string[],
  policy: CallingPolicy,
  callingWindow: CallingWindow | undefined,
  now: Date,
): ZonePreview[] => {
  const groups = new Map<string, { zones: readonly string[] | undefined; recipients: number }>()
  for (const number of numbers) {
    const zones = zonesOfNumber(number)
    const key = zones?.join() ?? ''
    groups.set(key, { zones, recipients: (groups.get(key)?.recipients ?? 0) + 1 })
  }
  const nowMs = now.getTime()
  return [...groups.values()]
    .toSorted((a, b) => b.recipients - a.recipients)
    .slice(0, maxZones)
    .map(({ zones, recipients }) => ({
      time_zones: [...(zones ?? [])],
      recipients,
      openings: commonOpenings(laneSchedules(policy, zones, callingWindow), nowMs)
        .filter(({ startMs, endMs }) => endMs > nowMs && startMs < nowMs + weekMs)
        .map(({ startMs, endMs }) => ({
          start: formatDateTime(new Date(Math.max(startMs, nowMs))),
          end: formatDateTime(new Date(endMs)),
        })),
    }))
}
