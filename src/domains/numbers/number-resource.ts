import { formatDateTime } from '../../contract/date-time.ts'
import type { NumberSettings } from './number-settings.ts'
import type { NumberRow } from './number-store.ts'

/** A number as commands and the dashboard show it (D16): what was set, and how it is. */
export interface ShownNumber extends NumberSettings {
  readonly phone_number: string
  /** ISO 3166. */
  readonly country: string | null
  /** `exhausted`: used as often as it may be today. `unusable`: its trunk is gone. */
  readonly state: 'active' | 'exhausted' | 'resting' | 'unusable'
  /** Why it is not active. */
  readonly reason: string | null
  /** Null: until it is resumed. */
  readonly rests_until: string | null
  /** On this day of the organization. */
  readonly calls_today: number
  /** Why it looks spoiled; null: it does not. */
  readonly flag_reason: string | null
  readonly flagged_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

export const numberOfRow = (row: NumberRow): ShownNumber => ({
  phone_number: row.phone_number,
  country: row.country,
  trunk: row.trunk,
  calls_per_day: row.calls_per_day,
  rest_when_flagged: row.rest_when_flagged,
  ...stateOf(row),
  rests_until: row.is_resting && row.rests_until ? formatDateTime(row.rests_until) : null,
  calls_today: row.calls_today,
  flag_reason: row.flag_reason,
  flagged_at: row.flagged_at && formatDateTime(row.flagged_at),
  created_at: formatDateTime(row.created_at),
  updated_at: formatDateTime(row.updated_at),
})

const stateOf = (row: NumberRow): Pick<ShownNumber, 'state' | 'reason'> => {
  if (row.is_resting) return { state: 'resting', reason: row.rest_reason }
  if (!row.is_trunk_known)
    return { state: 'unusable', reason: `There is no trunk ${row.trunk ?? ''} any more.` }
  if (row.calls_per_day !== null && row.calls_today >= row.calls_per_day)
    return { state: 'exhausted', reason: `It made the ${row.calls_per_day} calls of this day.` }
  return { state: 'active', reason: null }
}
